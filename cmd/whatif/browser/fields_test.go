package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// paste replaces the content of a field in one step.
func (p *tab) paste(field, text string) {
	p.Helper()
	p.click(`[id="` + field + `"]`)
	eval[chromedp.Void](p, fmt.Sprintf(`(() => {
		document.activeElement.select();
		document.execCommand(%q === "" ? "delete" : "insertText", false, %q);
	})()`, text, text))
	p.wait("!drawing")
}

// A field reports an invalid text, keeps it when it loses the focus, and changes nothing. Until
// the text is corrected, all numbers are marked as those of the last valid model.
func TestInvalidFields(t *testing.T) {
	p := original(t)
	before, numbers := p.saved(), p.text("#classes tbody")
	const valid = "1"
	for _, field := range []string{
		"load-text", "arrival_rate/web/text", "capacity/small/text", "mean_size/reports/text",
	} {
		for _, text := range []string{"abc", "-1", "0,5", "50%", "", "1e400", "1/0"} {
			p.paste(field, text)
			p.keys("\t")
			want := "a number from 0 to 1e308"
			if strings.HasPrefix(field, "mean_size") {
				want = "a number above 0"
			}
			name := text
			if text == "" {
				name = "Nothing here"
			}
			want = fmt.Sprintf("%s: want %s, such as 0.4, 2/5 or 4e-1. The numbers are those for %s.",
				name, want, valid)
			got := eval[string](p, fmt.Sprintf(`(() => {
				const field = document.getElementById(%q);
				if (field.getAttribute("aria-invalid") !== "true") return "not marked";
				const message = document.getElementById(field.getAttribute("aria-describedby"));
				return message?.getAttribute("role") === "alert" ? message.textContent : "no alert";
			})()`, field))
			if got != want {
				t.Errorf("%s = %q: %s, want %s", field, text, got, want)
			}
			const note = "All numbers are those of the last valid model: correct the marked field."
			marked := eval[bool](p, `document.getElementById("main").classList.contains("stale")`)
			if !marked || !strings.Contains(p.text("#verdict"), note) {
				t.Errorf("%s = %q: numbers are not marked", field, text)
			}
			if p.saved() != before {
				t.Errorf("%s = %q changes the model", field, text)
			}
		}
		p.fill(`[id="`+field+`"]`, valid)
		p.keys("\t")
		p.settle()
		if eval[bool](p, `document.querySelector(".stale, .field-error, .stale-note, [aria-invalid=true]") !== null`) {
			t.Errorf("%s: still marked", field)
		}
	}
	if got := p.text("#classes tbody"); got != numbers {
		t.Errorf("numbers %s, want %s", got, numbers)
	}
	p.fill("#load-text", "50%") // typed letter by letter: 50 is the last valid load
	if got := p.text(".field-error"); !strings.HasSuffix(got, "The numbers are those for 50.") {
		t.Errorf("message: %s", got)
	}
	p.fill("#load-text", "1")
	p.fill("#load-text", "x")
	p.keys(kb.Escape)
	if got := eval[string](p, `document.getElementById("load-text").value`); got != "1" {
		t.Errorf("after Escape the load is %s, want 1", got)
	}
	p.fill("#load-text", "x")
	p.do(chromedp.Focus(chromedp.CSS("#load")))
	p.keys(kb.ArrowRight)
	if eval[bool](p, `document.querySelector(".field-error") !== null`) {
		t.Error("the slider set the load, but the field shows another value")
	}
}

// Models with numbers near the limits of float64 get an answer, or a reason in the terms of the
// page.
func TestExtremeNumbers(t *testing.T) {
	p := original(t)
	for _, c := range []struct{ field, text string }{
		{"arrival_rate/web/text", "1e-320"}, {"capacity/big/text", "1e308"}, {"load-text", "1e308"},
		{"load-text", "1e-999"}, {"mean_size", "1e-300"},
	} {
		p.fill(`[id="`+c.field+`"]`, c.text)
		p.keys("\t")
		p.settle()
		text := p.text("#main")
		for _, raw := range []string{"model =", "1e±308", "float64", "NaN", "Infinity", "undefined"} {
			if strings.Contains(text, raw) {
				t.Errorf("%s = %s: %s in %s", c.field, c.text, raw, text)
			}
		}
	}
	p.open("tiny.yaml", strings.Replace(shop, "rate: 1,", "rate: 1e-320,", 1))
	want := "No exact delays: some of its numbers are outside the range from 1e-308 to 1e308; " +
		"use other units of time or of work. Simulate may still estimate them."
	if got := p.text("#verdict p"); !strings.Contains(got, want) {
		t.Errorf("verdict: %s", got)
	}
	if got := eval[string](p, `document.getElementById("text").value`); !strings.Contains(got, "arrival_rate: 1e-320") {
		t.Errorf("model file: %s", got)
	}
}

// All texts have a contrast of at least 4.5 with their background, in light and dark, except
// disabled buttons.
func TestContrast(t *testing.T) {
	p := original(t)
	p.button("Pin")
	p.button("Add class")
	p.fill("#load-text", "x")
	p.click(`[data-node="classes/class-3"]`)
	media := func(features ...*emulation.MediaFeature) {
		p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Features: features})
			return err
		}))
	}
	defer media()
	for _, scheme := range []string{"light", "dark"} {
		media(
			&emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme},
			&emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"},
		)
		weak := eval[[]string](p, `(async () => {
			await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
			const parse = (text) => text.match(/[\d.]+/g).map(Number);
			const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
			const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
			const behind = (e) => {
				const box = e.closest(".node")?.querySelector(".box");
				if (box) return parse(getComputedStyle(box).fill);
				for (; e; e = e.parentElement) {
					const color = parse(getComputedStyle(e).backgroundColor);
					if (color.length === 3 || color[3] === 1) return color;
				}
				return [255, 255, 255];
			};
			const weak = [];
			const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			while (walker.nextNode()) {
				const e = walker.currentNode.parentElement;
				if (!walker.currentNode.data.trim()) continue;
				if (e.closest("script, noscript, title, [disabled], option")) continue;
				if (e.getClientRects().length === 0) continue;
				const style = getComputedStyle(e);
				const color = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
				const [a, b] = [light(parse(color)), light(behind(e))];
				const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
				if (!(contrast >= 4.5)) weak.push(walker.currentNode.data + " " + contrast.toFixed(2));
			}
			return weak;
		})()`)
		if len(weak) > 0 {
			t.Errorf("%s: %q", scheme, weak)
		}
	}
}

// Prices are in the range of the solver, belong to a server as long as it exists, and do not depend
// on what objects of JavaScript contain.
func TestPrices(t *testing.T) {
	p := original(t)
	for _, text := range []string{"0", "1e101", "1e-101"} {
		p.paste("price/small", text)
		if got := p.text(".field-error"); !strings.HasPrefix(got, text+": want a number from 1e-100 to 1e100") {
			t.Errorf("%s: %s", text, got)
		}
		p.keys(kb.Escape)
	}
	price := func(server string) string {
		return eval[string](p, fmt.Sprintf("priceOf(state.saved, %q)", server))
	}
	for _, name := range []string{"constructor", "__proto__", "plain"} {
		eval[chromedp.Void](p, fmt.Sprintf(`edit(addServer(state.saved.model)); renameTo("servers", "server-3", `+
			`%q)`, name))
		p.settle()
		if got := price(name); got != "1" {
			t.Errorf("%s costs %s", name, got)
		}
		p.paste("price/"+name, "7")
		p.settle()
		eval[chromedp.Void](p, fmt.Sprintf(`renameTo("servers", %q, "server-3")`, name))
		if got := price("server-3"); got != "7" {
			t.Errorf("%s after its change of name costs %s, want 7", name, got)
		}
		eval[chromedp.Void](p, fmt.Sprintf(`renameTo("servers", "server-3", %q)`, name))
		if got := price(name); got != "7" {
			t.Errorf("%s costs %s, want 7", name, got)
		}
		eval[chromedp.Void](p, fmt.Sprintf(`remove("servers", %q)`, name))
		p.settle()
		if got := price(name); got != "1" {
			t.Errorf("%s costs %s after its removal", name, got)
		}
	}
}
