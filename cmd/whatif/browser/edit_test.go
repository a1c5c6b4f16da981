package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// drag draws a line from the centre of one element to the centre of another.
func (p *tab) drag(from, to string) {
	p.Helper()
	x, y := p.middle(from)
	at := eval[[]float64](p, fmt.Sprintf(
		`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x + r.width / 2, r.y + `+
			`r.height / 2]; })()`, to,
	))
	p.do(chromedp.DragAndDropXY(x, y, at[0], at[1], 8))
	p.settle()
}

// Every edit can be undone and redone, and the link contains it: a new tab shows pfq's numbers for
// the edited model.
func TestEditUndoReload(t *testing.T) {
	p := original(t)
	states := []string{p.saved()}
	step := func(what string, change func()) {
		t.Helper()
		change()
		p.settle()
		if now := p.saved(); now == states[len(states)-1] {
			t.Fatalf("%s changes nothing", what)
		} else {
			states = append(states, now)
		}
	}
	step("a line from reports to big", func() { p.drag(`[data-node="classes/reports"]`, `[data-node="servers/big"]`) })
	step("a line from small to web, connected already", func() {
		p.drag(`[data-node="servers/small"]`, `[data-node="classes/web"]`)
	})
	step("a server", func() { p.button("Add server") })
	step("a class", func() { p.button("Add class") })
	step("a name", func() {
		p.click(`[data-node="classes/class-3"]`)
		p.fill(".inspector input[type=text]", "batch\r")
	})
	step("a box", func() { p.click(`.inspector fieldset .pair:last-child input`) })
	step("a number", func() {
		p.fill(`[id="arrival_rate/batch/text"]`, "2/3")
		p.keys("\t")
	})
	step("a pin", func() { p.button("Pin") })
	step("a tab", func() { p.button("Service rate") })
	step("the load", func() {
		p.do(chromedp.Focus(chromedp.CSS("#load")))
		p.keys(kb.ArrowRight)
		p.do(chromedp.Blur(chromedp.CSS("#load")))
	})

	last := states[len(states)-1]
	if !strings.Contains(last, `"arrival_rate":"2/3"`) || !strings.Contains(last, `"name":"batch"`) {
		t.Fatalf("at the end: %s", last)
	}
	model := eval[string](p, "JSON.stringify(state.saved.model)")
	load := eval[string](p, "state.saved.load")
	want := run(t, model, "solve", "-", "--scale", load, "--format", "json")
	want = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(want), "["), "]")
	p.sameAs(want)
	link := eval[string](p, "location.href")
	fresh := newTab(t, link)
	if got := fresh.saved(); got != last {
		t.Errorf("from the link:\n%s\nwant\n%s", got, last)
	}
	fresh.sameAs(want)

	for i := len(states) - 2; i >= 0; i-- {
		p.button("Undo")
		p.settle()
		if got := p.saved(); got != states[i] {
			t.Fatalf("undone to step %d:\n%s\nwant\n%s", i, got, states[i])
		}
	}
	for _, want := range states[1:] {
		p.button("Redo")
		p.settle()
		if got := p.saved(); got != want {
			t.Fatalf("redone:\n%s\nwant\n%s", got, want)
		}
	}
}

// For an unstable cluster the page reports what is overloaded; once the cluster is stable again, it
// shows the numbers.
func TestUnstableAndBack(t *testing.T) {
	p := original(t)
	before := p.text("#classes")
	p.fill("#load-text", "2.5")
	p.settle()
	if got := p.text("#verdict p"); got != "Unstable: stable only below load 2.143 Overloaded: web and reports on "+
		"big and small, with work 3.5 on capacity 3 (ringed)." {
		t.Errorf("verdict: %s", got)
	}
	if p.number("all/mean_delay") != nil || eval[int](p, `document.querySelectorAll("#graph .ring.over").length`) != 4 {
		t.Error("an unstable cluster has numbers, or no rings")
	}
	p.wait(`document.querySelectorAll("#chart path[data-curve]").length === 2`)
	p.keys("\b", "\b", "\b", "1")
	p.settle()
	if got := p.text("#classes"); got != before {
		t.Errorf("back: %s, want %s", got, before)
	}
}

// Differences from the pinned variant are shown next to the numbers.
func TestPin(t *testing.T) {
	p := original(t)
	p.button("Pin")
	p.button("reports on big as well") // one of the suggested changes
	p.settle()
	before, after := 0.7628205128205128, *p.number("classes/reports/mean_jobs")
	if got, want := p.text(`[data-cell="classes/reports/mean_jobs"] .change`), fmt.Sprintf("−%.0f %%",
		100*(1-after/before)); got != want {
		t.Errorf("change %s, want %s", got, want)
	}
	p.wait(`document.querySelectorAll("#chart .ghosts path").length === 2`)
	p.button("Unpin")
	p.settle()
	if eval[int](p, `document.querySelectorAll(".change").length`) != 0 {
		t.Error("changes are shown without a pin")
	}
}

// Impossible edits are rejected with an explanation, and change nothing.
func TestRefusals(t *testing.T) {
	p := original(t)
	before := p.saved()
	p.drag(`[data-node="classes/reports"]`, `[data-node="servers/small"]`)
	if got := p.text("#message"); got != "reports runs on small only: connect it elsewhere first." {
		t.Errorf("message: %s", got)
	}
	p.click(`[data-node="servers/small"]`)
	p.button("Remove server")
	p.fill(".inspector input[type=text]", "big\r")
	if got := p.text("#message"); got != "Choose another name: big exists already." {
		t.Errorf("message: %s, want \"Choose another name: big exists already.\"", got)
	}
	p.fill(`[id="capacity/big/text"]`, "-1")
	if eval[string](p, `document.activeElement.getAttribute("aria-invalid")`) != "true" {
		t.Error("a negative capacity is not marked")
	}
	p.keys("\t")
	p.settle()
	if got := p.saved(); got != before {
		t.Errorf("the model changed to %s", got)
	}
}
