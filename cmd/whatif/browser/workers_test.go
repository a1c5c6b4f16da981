package browser

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A stopped simulation ends immediately, and another one can start; the same holds after a change
// of the model.
func TestSimulationStops(t *testing.T) {
	p := original(t)
	p.button("Simulate")
	p.wait("simulator.asked !== null")
	p.button("Stop")
	p.wait("simulator.asked === null && simulator.ready")
	if got := eval[int](p, `document.querySelectorAll("#chart .bars .bar").length`); got != 0 {
		t.Errorf("%d bars, want 0", got)
	}
	p.button("Simulate")
	p.wait("simulator.asked !== null")
	p.button("Add class")
	p.wait("simulator.asked === null && simulator.ready")
}

// A solver that fails is replaced, and the page continues.
func TestSolverFails(t *testing.T) {
	p := original(t)
	p.wait("!solver.asked")
	eval[chromedp.Void](p, "solver.worker.onerror()")
	p.fill("#load-text", "1.5")
	p.settle()
	p.wait(`document.querySelector("[data-cell='classes/reports/mean_delay'] data")?.textContent === "3.194"`)
}

// The page answers edits while the solver works on a question that takes minutes: percentiles of a
// model whose capacities differ by a factor of 1e308.
func TestSolverLeavesLongQuestions(t *testing.T) {
	p := original(t)
	p.button("Percentile")
	p.settle()
	p.wait("!solver.asked")
	eval[chromedp.Void](p, `edit({
		servers: [
			{ name: "big", capacity: "2" }, { name: "small", capacity: "1e308" }, { name: "other", capacity: "1" },
		],
		classes: [
			{ name: "web", arrival_rate: "1", servers: ["big", "small"] },
			{ name: "reports", arrival_rate: "0.4", servers: ["small"] },
			{ name: "more", arrival_rate: "0.4", servers: ["big", "other"] },
		],
		mean_size: "1e9",
	})`)
	p.wait("answerTo(solutionOf(state.saved)) && solver.asked?.percentiles")
	p.button("Undo")
	p.button("Add server")
	p.settle()
	model := eval[string](p, "JSON.stringify(state.saved.model)")
	p.sameAs(run(t, model, "solve", "-", "--percentiles", "50,95,99", "--format", "json"))
}

// A model that is too large for a page is rejected with an explanation, but can be simulated.
func TestTooLarge(t *testing.T) {
	p := original(t)
	p.open("large.yaml", tangle(40))
	const note = "No exact delays: this model takes more memory or time than this page has; pfq solve allows more."
	if got := p.text("#verdict"); !strings.HasPrefix(got, "Stable up to load ") || !strings.Contains(got, note) {
		t.Errorf("verdict: %s", got)
	}
	if p.number("all/mean_delay") != nil {
		t.Error("the page shows a mean delay")
	}
	p.brief()
	p.button("Simulate")
	p.wait(`document.querySelectorAll("#chart .bars .bar").length >= 40`)
	p.button("Stop")
	p.button("Undo")
	p.settle()
	p.sameAs(run(t, shop, "solve", "-", "--format", "json"))
}

// tangle returns the text of a model whose classes run on five scattered servers.
func tangle(classes int) string {
	var servers, rows strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for i := range classes {
		fmt.Fprintf(&servers, "  - {name: s%d, capacity: 1}\n", i)
		on := r.Perm(classes)[:5]
		fmt.Fprintf(&rows, "  - {name: c%d, arrival_rate: 0.%d, servers: [s%d, s%d, s%d, s%d, s%d]}\n",
			i, 1+i%5, on[0], on[1], on[2], on[3], on[4])
	}
	return "servers:\n" + servers.String() + "classes:\n" + rows.String()
}

// A click on the chart sets the load at that point.
func TestChartSetsTheLoad(t *testing.T) {
	p := original(t)
	p.wait(`!!document.querySelector("#chart .pole")`)
	at := eval[[]float64](p,
		`(() => { const r = document.querySelector("#chart .pole").getBoundingClientRect();
		const b = document.querySelector("#chart .base").getBoundingClientRect();
		return [(r.x + b.x) / 2, r.y + r.height / 2]; })()`)
	p.do(chromedp.MouseClickXY(at[0], at[1]))
	p.settle()
	if got := eval[float64](p, "Number(state.saved.load)"); got < 1.05 || got > 1.09 { // half of 15/7
		t.Errorf("load %v", got)
	}
}
