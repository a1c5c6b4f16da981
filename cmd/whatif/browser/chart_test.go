package browser

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// outside returns the curves and dots that are partly outside the plot, or have NaN in their path.
const outside = `(() => {
	const names = [];
	const [left, right, top, bottom] = [plot.left, plot.width - plot.right, plot.top, plot.height - plot.bottom];
	for (const path of document.querySelectorAll("#chart path[data-curve], #chart .ghosts path")) {
		const numbers = path.getAttribute("d").match(/[^ML ]+/g).map(Number);
		const isInside = (v, low, high) => v >= low - 0.1 && v <= high + 0.1;
		const allInside = numbers.every((v, k) => (k % 2 === 0 ? isInside(v, left, right) : isInside(v, top, bottom)));
		if (!allInside) names.push(path.getAttribute("d").slice(0, 200));
	}
	for (const dot of document.querySelectorAll("#chart circle")) {
		const [x, y] = [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))];
		const isInside = x >= left - 1 && x <= right + 1 && y >= top - 1 && y <= bottom + 1;
		if (!isInside) names.push("a dot at " + x + " " + y);
	}
	return names;
})()`

// After any change, all curves stay in the plot, including pinned ones, and no text of the chart
// overlaps it. Some changes make the pinned range of loads several times as wide as the current
// one.
func TestCurvesStayInPlot(t *testing.T) {
	p := original(t)
	p.button("Pin")
	r := rand.New(rand.NewPCG(3, 5))
	views := []string{"delay", "percentile", "rate", "busy"}
	pinned := 0
	for k := range 40 {
		class, server := []string{"web", "reports"}[r.IntN(2)], []string{"big", "small"}[r.IntN(2)]
		rate := fmt.Sprintf("%d/%d", r.IntN(30), 1+r.IntN(6))
		edit := fmt.Sprintf(`withRow(state.saved.model, "classes", %q, { arrival_rate: %q })`, class, rate)
		edit = fmt.Sprintf(`withRow(%s, "servers", %q, { capacity: "%d/%d" })`, edit, server, 1+r.IntN(9), 1+r.IntN(4))
		if k%8 == 7 {
			edit = `resize(` + edit + `, "web", "1.5")`
		}
		view := fmt.Sprintf(`view: %q, log: %v, load: "%d/4"`, views[k%4], r.IntN(2) == 0, r.IntN(12))
		eval[chromedp.Void](p, fmt.Sprintf("save({ model: %s, %s })", edit, view))
		p.settle()
		p.wait(`!drawing && document.querySelector("#chart, .empty") &&
			!document.querySelector('#chart[aria-busy="true"]')`)
		if bad := eval[[]string](p, outside); len(bad) > 0 {
			t.Errorf("%s: outside the plot: %s", p.saved(), strings.Join(bad, "; "))
		}
		texts := eval[[]string](p, `(() => {
			const box = document.querySelector("#chart .base")?.getBoundingClientRect();
			const top = document.querySelector("#chart .cursor")?.getBoundingClientRect().top;
			return [...document.querySelectorAll("#chart text")].filter((text) => {
				const at = text.getBoundingClientRect();
				return at.bottom > top + 4 && at.top < box.top - 8 &&
					at.right > box.left + 1 && at.left < box.right - 1;
			}).map((text) => text.textContent);
		})()`)
		if len(texts) > 0 {
			t.Errorf("%s: in the plot: %q", p.saved(), texts)
		}
		pinned += eval[int](p, `document.querySelectorAll("#chart .ghosts path").length`)
	}
	if pinned < 40 {
		t.Errorf("only %d pinned curves", pinned)
	}
}

// The names are in the order of the curves: at the end of the shorter of two neighbouring curves,
// the one with the upper name is above the other. Lines to the names are short.
func TestNamesInOrderOfCurves(t *testing.T) {
	p := original(t)
	check := func() {
		t.Helper()
		p.settle()
		p.wait(`!drawing && document.querySelector('#chart[aria-busy="false"] path[data-curve]')`)
		wrong := eval[[]string](p, `(() => {
			const paths = [...document.querySelectorAll("#chart path[data-curve]")];
			const names = paths.map((path) => path.dataset.curve);
			const pointsOf = (path) => path.getAttribute("d").slice(1).split(/[ML]/)
				.map((point) => point.split(" ").map(Number));
			const curves = paths.map(pointsOf);
			const heightAt = (points, x) => {
				const k = Math.max(1, points.findIndex((point) => point[0] >= x - 1e-9));
				const [[x1, y1], [x2, y2]] = [points[k - 1], points[k]];
				return y1 + ((y2 - y1) * (x - x1)) / (x2 - x1 || 1);
			};
			const shown = [...document.querySelectorAll("#chart .curve-name")]
				.sort((a, b) => a.getAttribute("y") - b.getAttribute("y")).map((text) => text.textContent);
			const wrong = [];
			shown.slice(1).forEach((name, k) => {
				const [above, below] = [curves[names.indexOf(shown[k])], curves[names.indexOf(name)]];
				const x = Math.min(above.at(-1)[0], below.at(-1)[0]);
				if (heightAt(above, x) > heightAt(below, x) + 1) wrong.push(shown[k] + " above " + name);
			});
			for (const line of document.querySelectorAll("#chart .leader")) {
				if (line.getBBox().width > 70) wrong.push("a line of " + line.getTotalLength());
			}
			return shown.length === curves.length ? wrong : ["names are missing"];
		})()`)
		if len(wrong) > 0 {
			t.Errorf("%s: %s", p.saved(), strings.Join(wrong, ", "))
		}
	}
	check()
	names := eval[[]string](p, `[...document.querySelectorAll("#chart .curve-name")].map((text) => text.textContent)`)
	if strings.Join(names, " ") != "reports web" {
		t.Errorf("names %q", names)
	}
	r := rand.New(rand.NewPCG(13, 17))
	for range 12 {
		classes := 2 + r.IntN(6)
		var b strings.Builder
		b.WriteString("servers:\n")
		for s := range classes {
			fmt.Fprintf(&b, "  - {name: s%d, capacity: %d}\n", s, 1+r.IntN(9))
		}
		b.WriteString("classes:\n")
		for i := range classes {
			rate, other := 1+r.IntN(9), (i+1+r.IntN(classes-1))%classes
			fmt.Fprintf(&b, "  - {name: c%d, arrival_rate: %d/8, servers: [s%d, s%d]}\n", i, rate, i, other)
		}
		p.write(b.String())
		for _, view := range []string{"delay", "rate"} {
			eval[chromedp.Void](p, fmt.Sprintf("save({ view: %q, log: %v })", view, r.IntN(2) == 0))
			check()
		}
	}
}

// Both axes name their quantity and unit.
func TestAxisTitles(t *testing.T) {
	p := original(t)
	for view, want := range map[string]string{
		"delay": "mean delay (s)", "percentile": "95th percentile of the delay (s)",
		"rate": "service rate of a job (work/s)", "busy": "utilization (fraction of time)",
	} {
		eval[chromedp.Void](p, fmt.Sprintf("save({ view: %q })", view))
		p.settle()
		const titles = `[...document.querySelectorAll("#chart g:first-of-type .axis")].map((text) => text.textContent)`
		got := eval[[]string](p, titles)
		if strings.Join(got, "|") != "load (factor of all arrival rates); unstable from 2.143 on|"+want {
			t.Errorf("%s: %q", view, got)
		}
	}
}

// The chart reports that curves are being refined until they have all their points.
func TestRefiningAfterEdit(t *testing.T) {
	p := original(t)
	p.button("Percentile")
	p.settle()
	p.wait(`document.querySelector("#chart")?.getAttribute("aria-busy") === "false"`)
	// Each drawing is complete or marked as incomplete.
	eval[chromedp.Void](p, `(() => {
		const before = draw;
		window.coarse = 0;
		window.refined = 0;
		draw = () => {
			before();
			const points = pointsOf(state.saved, "percentile").length;
			const chart = document.querySelector("#chart"); // none before the verdict
			if (chart && points > 0 && points < 65) chart.textContent.includes("refining …") ? refined++ : coarse++;
		};
		window.restore = () => ["coarse", "refined", "restore"].forEach((name) => delete window[name], draw = before);
		edit(addClass(state.saved.model));
	})()`)
	p.wait("refined > 0")
	p.wait(`document.querySelector("#chart")?.getAttribute("aria-busy") === "false"`)
	if got := p.text("#chart"); strings.Contains(got, "refining") {
		t.Errorf("still refining: %s", got)
	}
	if n := eval[int](p, "coarse"); n > 0 {
		t.Errorf("%d drawings with coarse curves do not say so", n)
	}
	if n := eval[int](p, `pointsOf(state.saved, "percentile").length`); n != 65 {
		t.Errorf("%d points, want 65", n)
	}
	eval[chromedp.Void](p, "restore(); 0")
}

// A running simulation shows its progress and the time left.
func TestSimulationTimeLeft(t *testing.T) {
	p := original(t)
	p.button("Simulate")
	p.wait(`/^\d+ %, about \d+ (s|min) left$/.test(document.getElementById("left")?.textContent)`)
	p.button("Stop")
	for text, want := range map[string]string{
		"timeLeft(0.2)": "about 1 s left", "timeLeft(9.1)": "about 10 s left",
		"timeLeft(27)": "about 30 s left", "timeLeft(101)": "about 2 min left",
	} {
		if got := eval[string](p, text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// The card of the cluster has no gap of more than 100 pixels above, between or below its parts.
func TestClusterCardWithoutGaps(t *testing.T) {
	p := original(t)
	for _, width := range []int64{390, 768, 1000, 1280, 1600} {
		p.do(chromedp.EmulateViewport(width, 900))
		p.wait(`(() => { // once the page has adapted to the width
			const card = document.getElementById("cluster").getBoundingClientRect();
			const parts = [...document.querySelectorAll(
				"#cluster .bar, #cluster .switch, #cluster .node, #cluster > p")];
			const spans = parts.map((part) => part.getBoundingClientRect()).sort((a, b) => a.top - b.top);
			let [gap, end] = [0, card.top];
			for (const { top, bottom } of spans) [gap, end] = [Math.max(gap, top - end), Math.max(end, bottom)];
			return Math.max(gap, card.bottom - end) <= 100;
		})()`)
	}
}

// Random edits, pins, undo steps and changes of view raise no exception, draw nothing outside the
// plot and show no NaN or infinity.
func TestRandomEdits(t *testing.T) {
	p := original(t)
	r := rand.New(rand.NewPCG(19, 23))
	numbers := []string{"0", "1", "0.4", "2/3", "7",
		"1e-3", "1e9", "1e-12", "1e300", "1e-300", "1e-320", "1e308", "1e-999"}
	const pick = `const pick = (list, k) => list[k %% list.length]; const { model } = state.saved;
		const [row, server] = [pick(model.classes, %d), pick(model.servers, %d)];`
	for step := range 60 {
		number := numbers[r.IntN(7)]
		if r.IntN(4) == 0 {
			number = numbers[r.IntN(len(numbers))]
		}
		edits := []string{
			fmt.Sprintf("edit(withRow(model, 'classes', row.name, { arrival_rate: %q }))", number),
			fmt.Sprintf("edit(withRow(model, 'classes', row.name, { arrival_rate: %q }))", number),
			fmt.Sprintf("edit(withRow(model, 'servers', server.name, { capacity: %q }))", number),
			fmt.Sprintf("edit(resize(model, row.name, %q))", number),
			fmt.Sprintf("edit(resizeAll(model, %q))", number),
			fmt.Sprintf("save({ load: %q })", number),
			fmt.Sprintf("edit(count(model, server.name, %d))", 1+r.IntN(3)),
			"if (model.classes.length < 6) edit(addClass(model, server.name))",
			"if (model.servers.length < 6) edit(addServer(model))",
			"edit(connect(model, row.name, server.name))",
			fmt.Sprintf("edit(serve(model, pick(Object.keys(services), %d)))", r.IntN(3)),
			"edit(removeClass(model, row.name))",
			"edit(removeServer(model, server.name))",
			"save({ pinned: { name: 'pinned', model, load: state.saved.load } })",
			fmt.Sprintf("save({ view: pick(viewsOf(model), %d), log: %v })", r.IntN(4), r.IntN(2) == 0),
			"undo()", "undo()", "redo()", "select('classes', row.name)", "select('servers', server.name)",
		}
		edit := edits[r.IntN(len(edits))]
		eval[chromedp.Void](p, fmt.Sprintf("(() => { "+pick+" %s; })()", r.IntN(6), r.IntN(6), edit))
		p.wait("!drawing && answerTo(verdictOf(state.saved)) && answerTo(solutionOf(state.saved))")
		if bad := eval[[]string](p, outside); len(bad) > 0 {
			t.Errorf("step %d, %s: outside the plot: %s", step, edit, strings.Join(bad, "; "))
		}
		text := eval[string](p, "document.getElementById('main').innerHTML")
		for _, none := range []string{"NaN", "Infinity", "undefined", "[object"} {
			if at := strings.Index(text, none); at >= 0 {
				t.Errorf("step %d, %s: %s in …%s", step, edit, none, text[max(0, at-200):at+40])
			}
		}
		if t.Failed() {
			t.Fatal(p.saved())
		}
	}
}
