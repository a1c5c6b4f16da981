package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// The programs and the page are built once for all tests.
var (
	folder  string // folder of all files
	pfq     string // path of the program pfq
	whatif  string // path of the program whatif
	onePage string // address of the page as one local file
	browser context.Context
	opened  int // number of tabs
)

func TestMain(m *testing.M) {
	status, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func runAll(m *testing.M) (status int, err error) {
	if folder, err = os.MkdirTemp("", "whatif-browser"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	pfq, whatif = filepath.Join(folder, "pfq"), filepath.Join(folder, "whatif")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", folder+string(filepath.Separator), "./cmd/pfq",
		"./cmd/whatif")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %s", err, out)
	}
	file := filepath.Join(folder, "shop.html")
	if out, err := exec.Command(whatif, "--output", file).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %s", err, out)
	}
	onePage = "file://" + file
	var stop func()
	if browser, stop, err = startBrowser(); err != nil {
		return 0, err
	}
	defer stop()
	// The first tab opens all others: they share its process, which keeps the compiled solver.
	if err := chromedp.Do(browser, chromedp.Navigate(onePage)); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// startBrowser starts Chromium, which must be installed. It has no network: requests to other
// machines go to a proxy that does not exist. The menu of the address bar is disabled because it
// would be another page.
func startBrowser() (context.Context, func(), error) {
	options := append(
		chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("lang", "en-US"),
		chromedp.Flag("proxy-server", "127.0.0.1:9"),
		chromedp.Flag("disable-features", "Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to run as root in a sandbox
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("no Chromium to test with (apt-get install chromium): %w", err)
	}
	return ctx, cancel, nil
}

// A tab is a tab of the browser. From the start, requests to other sites and console messages are
// faults, which fail the test.
type tab struct {
	*testing.T
	ctx   context.Context
	close func()

	lock   sync.Mutex
	faults []string
}

// newTab opens an address in a new tab and waits for the first numbers.
func newTab(t *testing.T, address string) *tab {
	t.Helper()
	p := loadPage(t, address)
	t.Cleanup(func() {
		p.report()
		p.close()
	})
	p.settle()
	return p
}

// loadPage opens an address in a new tab.
func loadPage(t *testing.T, address string) *tab {
	t.Helper()
	id, err := openTab()
	if err != nil {
		t.Fatal(err)
	}
	p := &tab{T: t}
	p.ctx, p.close = chromedp.NewContext(browser, chromedp.WithTargetID(id))
	p.must(chromedp.Listen(p.ctx, func(event any) {
		fault := ""
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !isOwn(e.Request.URL, address) {
				fault = "a request of " + e.Request.URL
			}
		case *runtime.EventConsoleAPICalled:
			fault = fmt.Sprintf("a message of the console: %v", e.Args)
		case *runtime.EventExceptionThrown:
			fault = "an exception: " + e.ExceptionDetails.Text
			if x := e.ExceptionDetails.Exception; x != nil {
				fault = "an exception: " + x.Description
			}
		case *log.EventEntryAdded: // such as a violation of the content security policy
			fault = "an entry of the log: " + e.Entry.Text
		}
		if fault != "" {
			p.lock.Lock()
			p.faults = append(p.faults, fault)
			p.lock.Unlock()
		}
	}))
	p.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address))
	return p
}

// report fails the test for each fault.
func (p *tab) report() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, fault := range p.faults {
		p.Error(fault)
	}
	p.faults = nil
}

// openTab opens an empty tab from the first one, in a separate window, because a tab behind others
// draws nothing.
func openTab() (target.ID, error) {
	ctx, cancel := context.WithTimeout(browser, time.Minute)
	defer cancel()
	opened++
	address := fmt.Sprintf("about:blank#%d", opened)
	open := fmt.Sprintf(`(document.open(%q, "", "popup"), {})`, address) // window.open: the page has a function open
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[struct{}](open)); err != nil {
		return "", err
	}
	for ; ; time.Sleep(time.Millisecond) {
		all, err := chromedp.Targets(ctx)
		if err != nil {
			return "", err
		}
		for _, one := range all {
			if one.URL == address {
				return one.TargetID, nil
			}
		}
	}
}

// isOwn reports whether a request is for the page itself or for a file in it.
func isOwn(url, address string) bool {
	before, _, _ := strings.Cut(address, "#")
	if site, ok := strings.CutSuffix(before, "/"); ok && strings.HasPrefix(url, site+"/") {
		return true
	}
	page, _, _ := strings.Cut(url, "#")
	return page == before || strings.HasPrefix(url, "blob:") || strings.HasPrefix(url, "data:")
}

func (p *tab) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	p.must(chromedp.Do(ctx, steps...))
}

// eval returns the value of an expression of JavaScript.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true. The page checks it, because polling from here would keep
// the page busy.
func (p *tab) wait(expression string) {
	p.Helper()
	if !eval[bool](p, fmt.Sprintf(`(async () => {
		const end = performance.now() + 55_000;
		while (!(%s)) {
			if (performance.now() > end) return false;
			await new Promise((next) => setTimeout(next, 5));
		}
		return true;
	})()`, expression)) {
		p.Fatalf("not true within a minute: %s", expression)
	}
}

// settle waits until the page shows the numbers of its state, and the address contains its link.
func (p *tab) settle() {
	p.Helper()
	p.wait(`typeof questions === "function" && state.saved.model !== null && linkTimer === null && !drawing &&
		(state.saved.tab === "pool" ? isPoolCurrent(state.saved) :
			[state.saved, state.saved.pinned].filter(Boolean).every((one) =>
				[verdictOf, solutionOf, percentilesOf].every((question) => answerTo(question(one)) ||
					(question === percentilesOf && (!percentilesOf(one) || !isSolved(one)))))) &&
		(!state.draft ||
			state.draft.answer && state.draft.answer === answerTo({ ask: "read", text: state.draft.text })) &&
		document.getElementById("main").getAttribute("aria-busy") === "false"`)
}

// fill replaces the content of a field by typing a text.
func (p *tab) fill(selector, text string) {
	p.Helper()
	p.click(selector)
	eval[chromedp.Void](p, "document.activeElement.select()")
	p.keys(strings.Split(text, "")...)
}

// text returns the text of an element.
func (p *tab) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// number returns the number in a cell of the page with all its digits, nil if there is none.
func (p *tab) number(cell string) *float64 {
	p.Helper()
	return eval[*float64](p, fmt.Sprintf(
		`(() => { const d = document.querySelector('[data-cell=%s] data'); return d && Number(d.value); })()`,
		quote(cell),
	))
}

func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `'`, `\'`).Replace(text) + `"`
}

// saved returns the state that undo, redo and the link store.
func (p *tab) saved() string {
	p.Helper()
	return eval[string](p, "JSON.stringify(state.saved)")
}

// keys types keys, one after the other.
func (p *tab) keys(keys ...string) {
	p.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
	p.wait("!drawing")
}

// click clicks on an element as a mouse does.
func (p *tab) click(selector string) {
	p.Helper()
	x, y := p.middle(selector)
	p.do(chromedp.MouseClickXY(x, y))
	p.wait("!drawing")
}

// middle scrolls an element into view and returns the position of its centre.
func (p *tab) middle(selector string) (x, y float64) {
	p.Helper()
	at := eval[[]float64](p, fmt.Sprintf(
		`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`,
		selector,
	))
	return at[0], at[1]
}

// button clicks the button with a text.
func (p *tab) button(text string) {
	p.Helper()
	p.wait("!drawing")
	p.wait(fmt.Sprintf(
		`(() => { const b = [...document.querySelectorAll("button")].find((b) => b.textContent === %q && `+
			`!b.disabled); b?.setAttribute("data-test", ""); return !!b; })()`, text,
	))
	p.click("[data-test]")
	eval[chromedp.Void](p, `document.querySelector("[data-test]")?.removeAttribute("data-test")`)
}

// write puts a text into the editor, as if it were typed.
func (p *tab) write(text string) {
	p.Helper()
	encoded, err := json.Marshal(text)
	p.must(err)
	eval[chromedp.Void](p, fmt.Sprintf(
		`(() => { const e = document.getElementById("text"); e.focus(); e.value = %s; e.dispatchEvent(new `+
			`Event("input", {bubbles: true})); })()`, encoded,
	))
	p.settle()
}

// open opens a file.
func (p *tab) open(name, text string) {
	p.Helper()
	file := filepath.Join(p.TempDir(), name)
	p.must(os.WriteFile(file, []byte(text), 0o600))
	p.do(chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{file}))
	p.wait(fmt.Sprintf("state.saved.name === %q", name))
	p.settle()
}

// run runs pfq and returns what it prints. A status of 1 is an answer.
func run(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command(pfq, args...)
	cmd.Stdin = strings.NewReader(input)
	var errs strings.Builder
	cmd.Stderr = io.Writer(&errs)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("pfq %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}
