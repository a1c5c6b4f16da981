package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const shop = `servers:
  - {name: big, capacity: 2}
  - {name: small, capacity: 1}
classes:
  - {name: web, arrival_rate: 1, servers: [big, small]}
  - {name: reports, arrival_rate: 0.4, servers: [small]}
`

// The editor shows the text of the model, and a typed text becomes the model as soon as it is
// valid. Incomplete texts change nothing: the last valid model and its numbers stay, and the error
// is shown at its line.
func TestTextOfTheModel(t *testing.T) {
	p := original(t)
	if got := eval[string](p, `document.getElementById("text").value`); got != shop {
		t.Errorf("text:\n%s\nwant\n%s", got, shop)
	}
	before, numbers := p.saved(), p.text("#classes")
	changed := strings.Replace(shop, "rate: 0.4", "rate: 0.25", 1)
	for _, cut := range []int{0, 8, 15, 40, 70, 76, 100, 130, 150, len(changed) - 3} {
		p.write(changed[:cut])
		if p.text("#text-error") == "" ||
			eval[string](p, `document.getElementById("text").getAttribute("aria-invalid")`) != "true" {
			t.Errorf("%q is not a model, but no error is shown", changed[:cut])
		}
		if p.saved() != before || p.text("#classes") != numbers {
			t.Errorf("%q changed the model", changed[:cut])
		}
	}
	p.write(strings.Replace(shop, "capacity: 1}", "capacity: one}", 1))
	if got := p.text("#text-error"); !strings.HasPrefix(got, "Line 3: servers[1].capacity = ") {
		t.Errorf("error: %s", got)
	}
	if got := p.text(".lines .bad"); got != "3" {
		t.Errorf("line %s is marked, want 3", got)
	}
	p.write(changed)
	if got := eval[string](p, "state.saved.model.classes[1].arrival_rate"); got != "0.25" {
		t.Errorf("the rate is %s, want 0.25", got)
	}
	if eval[string](p, `document.getElementById("text").value`) != changed {
		t.Error("the text differs from what was typed")
	}
	p.sameAs(run(t, changed, "solve", "-", "--format", "json"))
}

// Files in YAML and JSON can be dropped on the page; a file that is not a model is shown in the
// editor with the error.
func TestDrop(t *testing.T) {
	p := original(t)
	drop := func(name, text string) {
		eval[chromedp.Void](p, `(() => { const t = new DataTransfer(); t.items.add(new File([`+"`"+
			text+"`"+`], "`+name+`"));
			document.body.dispatchEvent(
				new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: t})); })()`)
	}
	text :=
		`{"servers": [{"name": "one", "capacity": 1}], "classes": [{"name": "jobs", "arrival_rate": "1/2", ` +
			`"servers": ["one"]}]}`
	drop("one.json", text)
	p.wait(`state.saved.name === "one.json"`)
	p.settle()
	p.sameAs(run(t, text, "solve", "-", "--format", "json"))
	before := p.saved()
	drop("bad.yaml", "servers: 3")
	p.wait(`document.getElementById("text-error").className === "error"`)
	if p.saved() != before {
		t.Error("a file without a model changed the page")
	}
	p.button("Back to the model in use")
	p.wait(`document.getElementById("text-error").className !== "error"`)
}
