package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Mean sizes are changed by class or for all classes, with the numbers of pfq. If they differ, the
// page has no percentiles, and explains that and that its mean delays are those of balanced
// fairness; once they are equal again, it shows everything.
func TestMeanSizes(t *testing.T) {
	p := original(t)
	p.button("Percentile")
	p.settle()
	before := p.saved()
	wantModel := func(end string) string {
		t.Helper()
		model := eval[string](p, "JSON.stringify(state.saved.model)")
		if !strings.HasSuffix(model, end) {
			t.Errorf("the model is %s", model)
		}
		return model
	}
	size := func(field, text string) {
		p.fill(`[id="`+field+`"]`, text)
		p.keys("\t")
		p.settle()
	}

	size("mean_size/web/text", "1.5")
	p.sameAs(run(
		t, wantModel(
			`"servers":["big","small"],"mean_size":"1.5"},`+
				`{"name":"reports","arrival_rate":"0.4","servers":["small"]}]}`,
		),
		"solve", "-", "--format", "json",
	))
	const note = "No percentiles: classes differ in mean size, and first come, first served has formulas for " +
		"exponential sizes with a common mean only. Mean delays are those of balanced fairness."
	if got := p.text("#tables > p"); got != note {
		t.Errorf("note %q, want %q", got, note)
	}
	if got := p.text("#chart"); !strings.Contains(got, "There is no formula; use Simulate.") {
		t.Errorf("chart: %s", got)
	}
	if n := eval[int](p, `document.querySelectorAll("#chart path[data-curve], #chart circle").length`); n != 0 {
		t.Errorf("%d curves and dots for percentiles that do not exist", n)
	}
	if got := eval[string](p, `document.getElementById("mean_size").placeholder`); got != "differ" {
		t.Errorf("mean size of all classes: %q, want differ", got)
	}
	fresh := linked(t, eval[string](p, "location.href"))
	if got := fresh.saved(); got != p.saved() {
		t.Errorf("from the link: %s", got)
	}

	p.fill("#load-text", "9") // unstable
	p.settle()
	if got := p.text("#chart"); !strings.Contains(got, "There is no formula; use Simulate.") {
		t.Errorf("chart of an unstable cluster: %s", got)
	}
	p.button("Undo")
	p.settle()

	size("mean_size", "2")
	p.sameAs(run(
		t, wantModel(`"servers":["small"]}],"mean_size":"2"}`), "solve", "-", "--format", "json",
		"--percentiles", "50,95,99",
	))
	p.wait(`document.querySelectorAll("#chart path[data-curve]").length === 2`)
	if eval[bool](
		p, `document.querySelector("#tables > p") !== null || `+
			`document.querySelector("#chart").textContent.includes("No formula")`,
	) {
		t.Error("sizes are equal, but the page shows a note")
	}
	for _, bad := range []string{"0", "-1", "x"} {
		p.fill(`[id="mean_size/reports/text"]`, bad)
		if eval[string](p, `document.activeElement.getAttribute("aria-invalid")`) != "true" {
			t.Errorf("size %s is not marked", bad)
		}
		p.keys("\t")
	}
	wantModel(`"servers":["small"]}],"mean_size":"2"}`)
	p.button("Undo")
	p.button("Undo")
	p.settle()
	if got := p.saved(); got != before {
		t.Errorf("undone: %s\nwant %s", got, before)
	}
}

// Long names with the same beginning are distinguished in the graph by their ends, and rounding
// never makes a server look less busy than it is.
func TestGraphTexts(t *testing.T) {
	p := original(t)
	p.open("long.yaml", `servers:
  - {name: one, capacity: 1}
classes:
  - {name: live video north, arrival_rate: 0.3, servers: [one]}
  - {name: live video south, arrival_rate: 0.237, servers: [one]}
  - {name: a long name of its own, arrival_rate: 0.2, servers: [one]}
`)
	for i, want := range []string{"live …north", "live …south", "a long nam…"} {
		if got := eval[[]string](
			p, `[...document.querySelectorAll("#graph .node.classes .name")].map((name) => name.textContent)`,
		)[i]; got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
	if got := p.text("#graph .node.servers .number"); got != "74 %" {
		t.Errorf("utilization %q, want 74 %%", got)
	}
	for text, want := range map[string]string{
		"percent(0.996, 0)": ">99 %",
		"percent(0.9996)":   ">99.9 %",
		"percent(1, 0)":     "100 %",
		"percent(0.994, 0)": "99 %",
	} {
		if got := eval[string](p, text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// Nothing is wider than the page, from phones to wide screens, with 12 classes and different sizes;
// only tables have their own scroll bars.
func TestWidths(t *testing.T) {
	p := original(t)
	p.open("ring.yaml", strings.Replace(ring(12), "name: c0,", "name: c0, mean_size: 0.9,", 1))
	for _, width := range []int64{360, 390, 768, 1000, 1280, 1920} {
		p.do(chromedp.EmulateViewport(width, 844))
		p.wait("!drawing")
		if wide := eval[int64](p, "document.documentElement.scrollWidth"); wide > width {
			t.Errorf("%d pixels on a screen of %d", wide, width)
		}
	}
}
