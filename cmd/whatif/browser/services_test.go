package browser

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pfqOf returns pfq's answer about the model of the page, with the times that the page shows.
func (p *tab) pfqOf(flags ...string) string {
	p.Helper()
	model := eval[string](p, "JSON.stringify(state.saved.model)")
	return run(p.T, model, append([]string{"solve", "-", "--format", "json"}, flags...)...)
}

// The switch and the fields of each service change the model, the numbers are those of pfq, and a
// link, undo and the saved text have the service.
func TestServices(t *testing.T) {
	p := original(t)
	times := []string{"--percentiles", "50,95,99", "--within", "1"}
	p.click("#service-one")
	p.settle()
	p.sameAs(p.pfqOf(times...))
	p.tabTo(`[id="count/small/slider"]`)
	p.keys(kb.ArrowRight, kb.ArrowRight)
	p.settle()
	p.sameAs(p.pfqOf(times...))
	if got := eval[string](p, "state.saved.model.classes[1].servers[0].group"); got != "small" {
		t.Errorf("reports on %s, want the group small", got)
	}
	p.fill(`[id="mean_patience/web/text"]`, "0.5")
	p.keys("\t")
	p.fill(`[id="within"]`, "0.25")
	p.keys("\t")
	p.settle()
	p.sameAs(p.pfqOf("--percentiles", "50,95,99", "--within", "0.25"))
	for _, view := range []string{"Percentile", "Service level", "Giving up", "Utilization", "Mean waiting"} {
		p.button(view)
		p.wait(`document.querySelectorAll("#chart [data-curve]").length >= 2`)
	}
	p.brief()
	p.button("Simulate")
	p.wait(`document.querySelectorAll("#chart .bars .bar").length >= 6`)
	p.click(`[data-node="classes/web"]`)
	eval[chromedp.Void](p, `(() => {
		const s = document.getElementById("patience/web");
		s.value = "deterministic";
		s.dispatchEvent(new Event("change"));
	})()`)
	p.settle()
	text := eval[string](p, `document.getElementById("text").value`)
	for _, want := range []string{"service: one\n", "mean_patience: 0.5, patience: deterministic}", "count: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	p.fill(`[id="price/small"]`, "3")
	p.keys("\t")
	p.fill(`[id="price"]`, "1/4")
	p.keys("\t")
	p.wait(`(answerTo(changesOf(state.saved))?.changes ?? []).some(({ words, cost }) =>
		words.startsWith("one more server") && cost === Number(priceOf(state.saved, words.split(" ")[3])))`)
	p.settle()
	last := p.saved()
	fresh := linked(t, eval[string](p, "location.href"))
	var got, want map[string]any // without the order of fields
	p.must(json.Unmarshal([]byte(fresh.saved()), &got))
	p.must(json.Unmarshal([]byte(last), &want))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("from the link:\n%v\nwant\n%v", got, want)
	}

	p.click("#service-gang")
	p.settle()
	p.sameAs(p.pfqOf())
	p.fill(`[id="count/big/slider/text"]`, "4")
	p.keys("\t")
	p.fill(`[id="needs/web"]`, "3")
	p.keys("\t")
	p.settle()
	p.sameAs(p.pfqOf())
	if got := p.text("#verdict"); !strings.Contains(got, "is wasted because a job that does not fit blocks") {
		t.Errorf("verdict: %s", got)
	}
	p.click("#service-all")
	p.settle()
	p.sameAs(p.pfqOf())
	for p.saved() != last {
		p.button("Undo")
		p.settle()
	}
}

// After 2,000 random uses of controls, among them the switch of services, the page has drawn each
// state without an exception and without a number that does not exist.
func TestRandomControls(t *testing.T) {
	p := original(t)
	p.brief()
	const script = `(async () => {
		let seed = %d;
		const random = (n) => {
			seed = (seed * 1103515245 + 12345) %% 2147483648;
			return Math.floor(seed / 65536) %% n;
		};
		const pick = (list) => list[random(list.length)];
		const fire = (control, ...types) => types.forEach(
			(type) => control.dispatchEvent(new Event(type, { bubbles: true })));
		const texts = ["0", "1", "0.4", "2/3", "2", "7", "1e-3", "1e9", "-1", "", "abc", "b c"];
		const dialogs = ["Save model", "Save page", "Copy link", "pfq line", "pfq line of the simulation", "pfq lines"];
		const used = new Set();
		for (let i = 0; i < %d; i++) {
			const { classes, servers } = state.saved.model;
			if (classes.length > 4 || servers.length > 4 || servers.some((row) => row.count > 12)) {
				undo();
				state.past = [];
				draw();
			}
			const controls = ":is(#main, #tools) :is(button:not(:disabled), input:not([type=file]), select, .node)";
			const all = document.querySelectorAll(controls);
			const control = pick([...all].filter(({ textContent }) => !dialogs.includes(textContent)));
			used.add(control.id.split("/")[0] || control.textContent.slice(0, 9));
			if (control.matches(".node")) {
				focusedNode = control.dataset.node;
				const key = pick(["Enter", "ArrowDown", "ArrowRight", "Delete"]);
				document.getElementById("graph").dispatchEvent(new KeyboardEvent("keydown", { key }));
			} else if (control.matches("select"))
				control.value = pick([...control.options]).value, fire(control, "change");
			else if (control.matches("[type=range]")) control.value = random(200), fire(control, "input", "change");
			else if (control.matches("[type=text]")) control.value = pick(texts), fire(control, "input", "blur");
			else control.click();
			takeDraft();
			draw();
			if (i %% 20 === 0) {
				await new Promise((next) => setTimeout(next, 2));
				const { textContent } = document.getElementById("main");
				const bad = /NaN|undefined|Infinity|\[object/.exec(textContent);
				if (bad) return bad[0] + " after " + i + ": " + JSON.stringify(state.saved);
			}
		}
		return [...used].join();
	})()`
	used := map[string]bool{}
	for seed := range 10 {
		got := eval[string](p, fmt.Sprintf(script, 1+seed, 200))
		if strings.Contains(got, " after ") {
			t.Fatal(got)
		}
		for control := range strings.SplitSeq(got, ",") {
			used[control] = true
		}
	}
	if len(used) < 40 {
		t.Errorf("only %d controls were used: %v", len(used), used)
	}
}
