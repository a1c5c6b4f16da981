package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// newPool opens the page and goes to the tab of a pool.
func newPool(t *testing.T) *tab {
	t.Helper()
	p := original(t)
	p.click("#tab-pool")
	p.settlePool()
	return p
}

// settlePool waits until the tab of a pool shows the numbers of its state, and the whole chart.
func (p *tab) settlePool() {
	p.Helper()
	p.wait(`typeof questions === "function" && state.saved.tab === "pool" && isPoolCurrent(state.saved) &&
		linkTimer === null && !drawing && poolCurve(state.saved).every(answerTo) &&
		document.getElementById("main").getAttribute("aria-busy") === "false"`)
}

// set changes fields of the pool, given as an object of JavaScript.
func (p *tab) set(fields string) {
	p.Helper()
	eval[struct{}](p, fmt.Sprintf(`(save({ pool: { ...state.saved.pool, ...%s } }), {})`, fields))
	p.settle()
}

// poolLines returns what pfq prints for the two commands in the copied lines.
func (p *tab) poolLines() (solved, planned string) {
	p.Helper()
	p.button("pfq lines")
	p.wait(`!!document.querySelector("dialog[open]")`)
	lines := strings.SplitAfter(eval[string](p, `document.getElementById("copied").value`), "END\n\n")
	p.keys("\x1b") // Escape
	p.wait(`!document.querySelector("dialog")`)
	return shell(p.T, lines[0]), shell(p.T, lines[1])
}

// The numbers of the page are those of pfq: all measures of pfq solve, to the last bit if jobs may
// give up, and the fewest servers of pfq plan.
func TestPoolNumbersMatchPfq(t *testing.T) {
	p := newPool(t)
	p.numbersOnly()
	for _, fields := range []string{
		`{}`,
		`{ patience: "never" }`,
		`{ patience: "zero", measure: "abandon_probability" }`,
		`{ patience: "mean", measure: "mean_waiting", rate: "7/60", rateUnit: "s",
			size: "1/16", sizeUnit: "h", meanPatience: "90", patienceUnit: "s" }`,
		`{ measure: "served_share", servers: "100000", rate: "90720000", rateUnit: "h",
			within: "0.6", sizeUnit: "s", size: "4" }`,
	} {
		p.set(fields)
		solved, planned := p.poolLines()
		var answer struct {
			MeanQueue float64 `json:"mean_queue"`
			Classes   []struct {
				Abandon       *float64 `json:"abandon_probability"`
				Wait          float64  `json:"wait_probability"`
				MeanWaiting   float64  `json:"mean_waiting"`
				WaitingServed *float64 `json:"mean_waiting_served"`
				Within        []struct {
					Waiting     float64
					Served      *float64
					ServedShare *float64 `json:"served_share"`
				}
			}
			Servers []struct{ Utilization float64 }
		}
		p.must(json.Unmarshal([]byte(solved), &answer))
		class := answer.Classes[0]
		want := map[string]*float64{
			"wait_probability": &class.Wait, "abandon_probability": class.Abandon, "mean_waiting": &class.MeanWaiting,
			"mean_waiting_served": class.WaitingServed,
			"served":              class.Within[0].Served, "waiting": &class.Within[0].Waiting,
			"served_share": class.Within[0].ServedShare, "utilization": &answer.Servers[0].Utilization,
			"mean_queue": &answer.MeanQueue,
		}
		tol := 0.
		if class.Abandon == nil {
			want["served"], want["abandon_probability"], tol = &class.Within[0].Waiting, new(0.), 1e-9
		}
		cells := eval[map[string]float64](p, `Object.fromEntries([...document.querySelectorAll(
			"#measures [data-cell]")].map((cell) => [cell.dataset.cell, Number(cell.querySelector("data").value)]))`)
		if len(cells) < 3 {
			t.Errorf("%s: only %v", fields, cells)
		}
		for cell, got := range cells {
			w := want[strings.TrimPrefix(cell, "pool/")]
			if w == nil || got > *w*(1+tol) || got < *w*(1-tol) {
				t.Errorf("%s: %s is %v, want %v", fields, cell, got, w)
			}
		}
		var plan struct {
			Cost    float64
			Targets []struct{ Plan float64 }
		}
		p.must(json.Unmarshal([]byte(planned), &plan))
		best := eval[struct {
			Servers float64
			Value   struct{ Value float64 }
		}](p, `answerTo(askOf("fewest", state.saved))`)
		near := math.Abs(best.Value.Value-plan.Targets[0].Plan) <= 1e-9*best.Value.Value
		shown := p.text("#fewest-servers")
		if best.Servers != plan.Cost+1 || !near || shown != grouped(best.Servers)+" servers" {
			t.Errorf("%s: %v, shown as %q, and a plan of cost %v: %v", fields, best, shown, plan.Cost, plan.Targets)
		}
	}
}

// grouped returns a number below a million with a comma before the thousands.
func grouped(n float64) string {
	if n < 1000 {
		return strconv.Itoa(int(n))
	}
	return fmt.Sprintf("%d,%03d", int(n)/1000, int(n)%1000)
}

// For an unstable pool, the page gives the reason, and the fewest servers that meet the target.
func TestUnstablePool(t *testing.T) {
	p := newPool(t)
	p.set(`{ patience: "never", servers: "22" }`)
	const want = "Unstable: the queue grows without bound. " +
		"The jobs need 22 servers on average, there are 22, and no job gives up."
	if got := p.text("#verdict"); got != want {
		t.Errorf("verdict %q", got)
	}
	if got := p.text("#fewest-servers"); got != "27 servers" {
		t.Errorf("fewest %q", got)
	}
	p.button("Use 27 servers")
	p.settlePool()
	const met = "The target is met. With 27 servers, 85.08\u00a0% of the jobs are served within 20 seconds; "
	if got := p.text("#verdict"); !strings.HasPrefix(got, met) {
		t.Errorf("verdict %q", got)
	}
}

// The verdict uses only current answers. It says nothing about the target until the fewest servers
// are known; a change of the present number of servers does not request them again.
func TestPoolVerdictIsCurrent(t *testing.T) {
	p := newPool(t)
	const forget = `answers.delete(JSON.stringify(askOf(%q, state.saved))); redraw();`
	const drawn = `draw();
		const { className, textContent } = document.getElementById("verdict");
		return className + ":" + textContent;`
	for script, want := range map[string]string{
		fmt.Sprintf(forget, "fewest"):                         ":… With 26 servers, ",
		fmt.Sprintf(forget, "pool"):                           ":… ",
		`save({ pool: { ...state.saved.pool, rate: "2" } });`: ":… ",
	} {
		p.settlePool()
		got := eval[string](p, "(() => {"+script+drawn+"})()")
		if !strings.HasPrefix(got, want) || strings.Contains(got, "target") {
			t.Errorf("after %s: %q", script, got)
		}
	}
	p.settlePool()
	known := eval[bool](p, `(() => {
		save({ pool: { ...state.saved.pool, servers: "40" } });
		return Boolean(answerTo(askOf("fewest", state.saved)));
	})()`)
	if !known {
		t.Error("one more server asks for the fewest again")
	}
	p.settlePool()
	if got := p.text("#verdict strong"); got != "The target is met." {
		t.Errorf("verdict %q", got)
	}
}

// Everything can be done with the keyboard alone. Undo and links include the tab and its fields,
// and the cluster does not change.
func TestPoolWithTheKeyboard(t *testing.T) {
	p := original(t)
	model := eval[string](p, "JSON.stringify(state.saved.model)")
	p.tabTo("#tab-cluster")
	p.keys(kb.ArrowRight)
	p.settlePool()
	if got := eval[string](p, "document.activeElement.id"); got != "tab-pool" {
		t.Fatalf("the focus is on %q", got)
	}
	field := func(id string, keys ...string) {
		t.Helper()
		p.tabTo(`[id="pool/` + id + `"]`)
		p.keys(keys...)
		p.settle()
	}
	replace := func(id, text string) {
		t.Helper()
		p.tabTo(`[id="pool/` + id + `"]`)
		eval[chromedp.Void](p, "document.activeElement.select()")
		p.keys(strings.Split(text, "")...)
		p.settle()
	}
	replace("servers", "30")
	p.tabTo(`[aria-label="One server fewer"]`)
	p.keys(" ")
	replace("rate", "7")
	field("rateUnit", kb.ArrowDown)
	field("rateUnit", kb.ArrowUp)
	replace("size", "3")
	field("sizeUnit", kb.ArrowUp)
	field("sizeUnit", kb.ArrowDown)
	replace("meanPatience", "2")
	field("patienceUnit", kb.ArrowDown)
	field("measure", kb.ArrowDown)
	replace("within", "30")
	field("withinUnit", kb.ArrowDown)
	replace("share", "0.9")
	field("patience", kb.ArrowDown)
	const want = `{"servers":"29","rate":"7","rateUnit":"min","size":"3","sizeUnit":"min",` +
		`"patience":"never","meanPatience":"2","patienceUnit":"h","within":"30","withinUnit":"min",` +
		`"measure":"waiting","share":"0.9","lost":"0.05"}`
	if got := eval[string](p, "JSON.stringify(state.saved.pool)"); got != want {
		t.Errorf("pool %s", got)
	}
	fresh := linked(t, eval[string](p, "location.href"))
	fresh.settlePool()
	if fresh.saved() != p.saved() {
		t.Errorf("from the link: %s", fresh.saved())
	}
	p.do(chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.settlePool()
	if got := eval[string](p, "state.saved.pool.patience"); got != "mean" {
		t.Errorf("patience %q after Ctrl+Z", got)
	}
	p.tabTo("#tab-pool")
	p.keys(kb.ArrowLeft)
	p.settle()
	if got := eval[string](p, "JSON.stringify(state.saved.model)"); got != model || p.text("h2") != "Cluster" {
		t.Errorf("the cluster is now %s", got)
	}
}

// An invalid text is reported at its field with the range, and changes nothing.
func TestInvalidPoolFields(t *testing.T) {
	p := newPool(t)
	before := p.saved()
	for field, want := range map[string]string{
		"servers": "a whole number from 1 to 1000000", "rate": "a number above 0", "size": "a number above 0",
		"meanPatience": "a number from 0 to 1e308", "within": "a number from 0 to 1e308",
		"share": "a number > 0 and < 1",
	} {
		p.paste("pool/"+field, "-2")
		got := eval[string](p, fmt.Sprintf(`document.getElementById("pool/%s/error").textContent`, field))
		if !strings.HasPrefix(got, "-2: want "+want) || p.saved() != before ||
			!strings.Contains(p.text("#verdict"), "correct the marked field") {
			t.Errorf("%s: %q", field, got)
		}
		p.keys("\x1b")
	}
	p.set(`{ servers: "9", meanPatience: "1e14" }`)
	const want = "No answer: mean_patience = 100000000000000: " +
		"want a mean patience with at most 16777216 terms of the series."
	if got := p.text("#verdict"); got != want {
		t.Errorf("verdict %q", got)
	}
}

// Three hundred random edits, by typing, choosing and clicking, cause no exception, and the numbers
// after them are those of a fresh page.
func TestRandomEditsOfPools(t *testing.T) {
	p := newPool(t)
	r := rand.New(rand.NewPCG(3, 9))
	texts := []string{"1", "0", "26", "2/3", "0.5", "1e5", "400", "", "x", "-1", "1e-9", "1e300", "999999", "0.999"}
	var edits []string
	for range 300 {
		edits = append(edits, fmt.Sprintf("[%d, %q]", r.IntN(1<<20), texts[r.IntN(len(texts))]))
	}
	eval[struct{}](p, fmt.Sprintf(`(async () => {
		for (const [number, text] of [%s]) {
			const controls = document.querySelectorAll("#main input, #main select, #main button, #pool-chart");
			const all = [...controls].filter((one) => !one.disabled);
			const one = all[number %% all.length];
			if (one.matches("input")) {
				one.value = text;
				one.dispatchEvent(new Event("input", { bubbles: true }));
			} else if (one.matches("select")) {
				one.selectedIndex = number %% one.options.length;
				one.dispatchEvent(new Event("change", { bubbles: true }));
			} else if (one.matches("button")) one.click();
			else one.dispatchEvent(new MouseEvent("click", { clientX: 800, clientY: 500, bubbles: true }));
			draw();
		}
		return {};
	})()`, strings.Join(edits, ", ")))
	p.settlePool()
	fresh := linked(t, eval[string](p, "location.href"))
	fresh.settlePool()
	for _, part := range []string{"#verdict > p", "#measures", "#fewest .answer"} {
		text := `document.querySelector("` + part + `")?.textContent ?? ""`
		if here, there := eval[string](p, text), eval[string](fresh, text); here != there {
			t.Errorf("%s: %q, and %q from the link", part, here, there)
		}
	}
	if past := eval[int](p, "state.past.length"); past < 100 {
		t.Errorf("only %d changes", past)
	}
}

// A file that is dropped on the tab of a pool opens in that of a cluster.
func TestPoolAndFiles(t *testing.T) {
	p := newPool(t)
	p.set(`{ servers: "31" }`)
	eval[chromedp.Void](p, fmt.Sprintf("openText('ring.yaml', %q)", ring(3)))
	p.wait("state.saved.name === 'ring.yaml'")
	p.settle()
	if got := p.text("#verdict strong"); !strings.HasPrefix(got, "Stable up to load") {
		t.Errorf("verdict %q", got)
	}
	p.button("Undo")
	p.settle()
	p.button("Undo")
	p.settlePool()
	if got := eval[string](p, "state.saved.pool.servers"); got != "31" {
		t.Errorf("%s servers", got)
	}
}

// The tab fits into 390 px: nothing is wider than the page.
func TestPoolOnPhones(t *testing.T) {
	p := newPool(t)
	p.do(chromedp.EmulateViewport(390, 844))
	p.set(`{ servers: "1000", rate: "252", measure: "served_share" }`)
	p.settlePool()
	if w := eval[int](p, "document.documentElement.scrollWidth"); w > 390 {
		t.Errorf("the page is %d px wide", w)
	}
}

// BenchmarkPool measures the time from a change of a pool of 100,000 servers to its numbers and the
// fewest servers.
func BenchmarkPool(b *testing.B) {
	ctx, cancel := chromedp.NewContext(browser)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(onePage)); err != nil {
		b.Fatal(err)
	}
	total := 0.
	n := 100_000
	for b.Loop() {
		n++
		ms, err := chromedp.Run(ctx, chromedp.Evaluate[float64](fmt.Sprintf(`(async () => {
			while (!(typeof state === "object" && state.saved.model)) await new Promise((next) => setTimeout(next, 10));
			const begun = performance.now();
			save({ tab: "pool", pool: { ...state.saved.pool, rate: "25200", servers: "%d" } });
			while (!isPoolCurrent(state.saved)) await new Promise((next) => setTimeout(next, 0));
			return performance.now() - begun;
		})()`, n), chromedp.EvalAwaitPromise))
		if err != nil {
			b.Fatal(err)
		}
		total += ms
	}
	b.ReportMetric(total/float64(b.N), "ms/answer")
}
