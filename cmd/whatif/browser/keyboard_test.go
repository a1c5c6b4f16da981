package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until an element has the focus.
func (p *tab) tabTo(selector string) {
	p.Helper()
	for range 60 {
		if eval[bool](p, `document.activeElement?.matches(`+"`"+selector+"`"+`) ?? false`) {
			return
		}
		p.keys("\t")
	}
	p.Fatalf("Tab never reaches %s", selector)
}

// Everything can be done with the keyboard alone: selecting, connecting, adding and removing,
// numbers, sliders, views and undoing.
func TestKeyboardOnly(t *testing.T) {
	p := original(t)
	p.tabTo("#load")
	p.keys(kb.ArrowRight)
	if got := eval[string](p, "state.saved.load"); parseAbove(got, "1") != true {
		t.Errorf("load %s after an arrow to the right", got)
	}
	p.tabTo("[data-node]")
	p.keys(kb.ArrowDown, "\r")
	if got := eval[string](p, "state.selected.name"); got != "reports" {
		t.Fatalf("%s is selected, want reports", got)
	}
	p.tabTo(".inspector input[type=checkbox]")
	p.keys(" ") // on big as well
	p.settle()
	if got := eval[string](p, "state.saved.model.classes[1].servers.join()"); got != "big,small" {
		t.Errorf("reports on %s, want \"big,small\"", got)
	}
	p.tabTo(`[role=tab]`)
	p.keys(kb.ArrowRight, kb.ArrowRight)
	if got := eval[string](p, "state.saved.view"); got != "rate" {
		t.Errorf("view %s, want rate", got)
	}
	p.tabTo(`[id="capacity/small"]`)
	p.keys(kb.End)
	if got := eval[string](p, "state.saved.model.servers[1].capacity"); got != "2" {
		t.Errorf("capacity %s, want 2", got)
	}
	p.do(chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	if got := eval[string](p, "state.saved.model.servers[1].capacity"); got != "1" {
		t.Errorf("capacity %s after Ctrl+Z, want 1", got)
	}
	eval[chromedp.Void](p, "document.activeElement.blur()")
	p.tabTo("[data-node]")
	p.keys(kb.ArrowRight, kb.ArrowUp, kb.Delete) // the server big, which other classes use besides web and reports
	p.settle()
	if got := eval[string](p, "state.saved.model.servers.map((row) => row.name).join()"); got != "small" {
		t.Errorf("servers %s after Delete, want small", got)
	}
}

func parseAbove(text, than string) bool { return text != than && text > than }

// Each control has a role and a name for screen readers, and everything is inside a landmark.
func TestAccessibilityTree(t *testing.T) {
	p := original(t)
	p.click(`[data-node="classes/web"]`)
	p.button("Pin")
	p.settle()
	p.has(
		"main ", "banner ", "heading productform what if", "heading Cluster", "slider Load",
		"slider Arrival rate of web", "textbox Arrival rate of web, exact", "slider Capacity of small",
		"button class web, 1 jobs per second, on big, small, in the bottleneck",
		"button server big, capacity 2, busy 38.5 %, in the bottleneck", "checkbox big",
		"textbox Name", "tab Mean delay", "checkbox log scale", "table Classes", "rowheader reports",
		"columnheader Mean delay", "button Undo", "textbox Model as YAML or JSON",
		"image Mean delay of each class against the load, up to 2.143; the tables have the numbers",
	)
	p.click("#tab-pool")
	p.settlePool()
	p.has("tab Cluster", "tabpanel Pool", "textbox Servers", "button One server more", "combobox Jobs that wait",
		"textbox Mean patience", "combobox Unit of the mean patience", "combobox Measure of the target",
		"table Numbers (Erlang A)", "rowheader Occupancy", "image served within 20 seconds with 17 to 34 servers",
		"button pfq lines")
}

// has fails unless the accessibility tree has these nodes, each a role and a name, and names for
// all controls.
func (p *tab) has(nodes ...string) {
	p.Helper()
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	p.must(err)
	var names []string
	controls := []string{
		"button", "slider", "textbox", "checkbox", "tab", "combobox", "image", "table", "columnheader",
		"rowheader", "tablist", "toolbar", "region", "form", "group",
	}
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role, name := unquoted(node.Role.Value), ""
		if node.Name != nil {
			name = unquoted(node.Name.Value)
		}
		if slices.Contains(controls, role) && name == "" {
			p.Errorf("a %s without a name", role)
		}
		names = append(names, role+" "+name)
	}
	for _, want := range nodes {
		if !slices.Contains(names, want) {
			p.Errorf("no %q in the accessibility tree:\n%s", want, strings.Join(names, "\n"))
		}
	}
}

func unquoted(value []byte) string { return strings.Trim(string(value), `"`) }
