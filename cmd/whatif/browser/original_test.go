package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

var idle []*tab // tabs with the page in its original state, for the next tests

// original returns a tab with the page in its original state. Tests share such tabs, because a new
// one takes a second: after a test, the page is brought back to that state. Whatever then differs
// fails the test, as do its requests to other sites and its messages.
func original(t *testing.T) *tab {
	t.Helper()
	var p *tab
	if n := len(idle); n > 0 {
		p, idle = idle[n-1], idle[:n-1]
		p.T = t
	} else {
		p = loadPage(t, onePage)
	}
	t.Cleanup(func() {
		defer func() {
			p.report()
			if t.Failed() {
				p.close()
			} else {
				idle = append(idle, p)
			}
		}()
		if !t.Failed() {
			p.reset()
		}
	})
	p.settle()
	if !eval[bool](p, `"original" in window`) {
		p.wait(`[questions(performance.now() - state.changedAt)].every(
			({ wanted, later }) => !later && wanted.every(answerTo)) && !drawing`)
		eval[struct{}](p, remember)
	}
	return p
}

// remember keeps the original state: everything that the page shows and that its functions read.
const remember = `(() => {
	window.original = null;
	const valueOf = (name) => Object.getOwnPropertyDescriptor(window, name)?.value;
	const globals = new Map(Object.getOwnPropertyNames(window).map((name) => [name, valueOf(name)]));
	globals.delete("original");
	const [known, pools] = [[...answers], { ...poolPlot }];
	const look = () => [
		JSON.stringify({ ...state, changedAt: 0 }), location.href, document.title, document.activeElement.tagName,
		[innerWidth, innerHeight, scrollX, scrollY].join(),
		["color-scheme: dark", "reduced-motion: reduce"].map((is) => matchMedia("(prefers-" + is + ")").matches).join(),
		JSON.stringify([runs, slices, plot, graph]),
		...["header", "main", "footer"].map((tag) => document.querySelector(tag).outerHTML),
		[...document.querySelectorAll("input, select, textarea")].map(({ value, checked }) => value + checked).join(),
		[...document.body.childNodes].map(({ nodeName }) => nodeName).join(), [...answers.keys()].join(),
		Object.getOwnPropertyNames(window).filter((name) => name !== "original" && !globals.has(name)).join(),
		[...globals].filter(([name, value]) => !Object.is(valueOf(name), value)).map(([name]) => name).join(),
	];
	const first = look();
	const pause = () => new Promise((next) => setTimeout(next, 5));
	const recall = () => {
		answers.clear();
		known.forEach(([key, answer]) => answers.set(key, answer));
	};
	window.original = async () => {
		document.activeElement.blur();
		Object.assign(state, { simulate: null, dialog: null, gesture: null });
		recall();
		await open("");
		while (!solver.ready || solver.asked || !simulator.ready || simulator.asked || linkTimer) await pause();
		recall(); // without late answers
		for (const one of [held, heldPool]) Object.keys(one).forEach((slot) => delete one[slot]);
		[heldCurves, heldPoolPoints, focusedNode, pulled] = [null, { key: "", points: [] }, null, null];
		spans.clear();
		Object.assign(poolPlot, pools);
		for (const id of ["tabs", "tools", "main"]) document.getElementById(id).textContent = "";
		document.getElementById("main").removeAttribute("class");
		scrollTo(0, 0);
		redraw();
		for (const end = performance.now() + 10_000; ; await pause()) {
			const now = look();
			const k = now.findIndex((part, k) => part !== first[k]);
			if (k < 0 && !drawing) return "";
			if (performance.now() > end) return now[k] + "\ninstead of\n" + first[k];
		}
	};
	return {};
})()`

// reset brings the page back to its original state.
func (p *tab) reset() {
	p.Helper()
	p.do(chromedp.EmulateViewport(1280, 900), chromedp.MouseEvent(chromedp.MouseMoved, 0, 0))
	if differs := eval[string](p, "original()"); differs != "" {
		p.Errorf("not the original page after the test: %s", differs)
	}
}

// linked returns a tab with the page of a link, which is followed from the original page.
func linked(t *testing.T, link string) *tab {
	t.Helper()
	p := original(t)
	before := p.saved()
	eval[chromedp.Void](p, fmt.Sprintf("location.hash = new URL(%q).hash; 0", link))
	p.wait(fmt.Sprintf("JSON.stringify(state.saved) !== %q", before))
	p.settle()
	return p
}

// brief lets each run of a simulation take a tenth of its events until the end of the test.
func (p *tab) brief() {
	p.Helper()
	eval[struct{}](p, "(runs.jumps /= 10, {})")
	p.Cleanup(func() { eval[struct{}](p, "(runs.jumps *= 10, {})") })
}

// numbersOnly lets the page ask neither for curves nor for changes until the end of a test that
// looks at other numbers: with large models and pools, these take most of the time.
func (p *tab) numbersOnly() {
	p.Helper()
	eval[struct{}](p, `(() => {
		const before = questions;
		questions = () => ({ wanted: before(0).wanted.filter(({ ask }) => ask !== "curve"), later: false });
		window.restore = () => {
			questions = before;
			delete window.restore;
		};
		return {};
	})()`)
	p.Cleanup(func() { eval[struct{}](p, "(restore(), {})") })
}
