package browser

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The page is one file of at most 3.5 MiB, which loads in a second at 30 Mbit/s. More than half of
// its code is Go's runtime and libraries. The solvers of one server per job, of jobs that give up
// and of gangs take 0.31 MiB, those of jobs on all their servers twice as much.
func TestSizeOfThePage(t *testing.T) {
	info, err := os.Stat(strings.TrimPrefix(onePage, "file://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > 7<<19 {
		t.Errorf("%d bytes", info.Size())
	}
}

// The built command serves the page with a given model until it is stopped.
func TestServed(t *testing.T) {
	cmd := exec.Command(whatif, writeExample(t, "storage"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// A program in the background of a shell without job control ignores interrupts, and so do the
	// programs that it starts, except while it listens to them.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	err = cmd.Start()
	signal.Stop(interrupts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("interrupted: %v", err)
		}
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p := newTab(t, strings.TrimSpace(address))
	p.sameAs(run(t, run(t, "", "example", "storage"), "solve", "-", "--format", "json"))
}

// The static site works like the single file.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(whatif, "--folder", dir).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), filepath.Join(dir, "index.html")) {
		t.Fatalf("%v: %s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	p := newTab(t, server.URL+"/")
	p.sameAs(run(t, shop, "solve", "-", "--format", "json"))
}

// The policy is enforced: no other script runs, and the page itself cannot open connections.
func TestPolicy(t *testing.T) {
	p := original(t)
	policy := eval[string](p, `document.querySelector("meta[http-equiv=Content-Security-Policy]").content`)
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("no %s in %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe-inline") || strings.Contains(policy, "'unsafe-eval'") {
		t.Errorf("an unsafe policy: %s", policy)
	}
}

// If a link is broken or does not contain a model, the page keeps its original model and reports
// the problem.
func TestBrokenLinks(t *testing.T) {
	for link, want := range map[string]string{
		"#nonsense":           "The link is broken; this is the original model of the page.",
		"#q1ZSKlayUlBKVKoFAA": "",
	} {
		p := newTab(t, onePage+link)
		if got := p.text("#message"); want != "" && got != want {
			t.Errorf("%s: %s", link, got)
		}
		p.sameAs(run(t, shop, "solve", "-", "--format", "json"))
	}
	p := original(t)
	link := eval[string](
		p, `linkOf({ ...state.saved, name: 7, load: "-3", view: "x", model: { ...state.saved.model, servers: [] } })`,
	)
	eval[chromedp.Void](p, `location.hash = "`+link+`"; 0`)
	p.wait(`state.message.startsWith("The link contains an invalid model")`)
	p.settle()
	p.sameAs(run(t, shop, "solve", "-", "--format", "json"))
}

// A saved page opens with its saved state, including the pinned variant.
func TestSavedPage(t *testing.T) {
	p := original(t)
	p.button("Pin")
	p.button("Add server")
	p.button("Utilization")
	p.settle()
	again := newTab(t, p.savePage())
	if got, want := again.saved(), p.saved(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A page that is saved from the tab of a pool opens there, and its other tab is that of the original.
func TestPageSavedFromPool(t *testing.T) {
	p := original(t)
	about := p.text("#about")
	p.click("#tab-pool")
	p.settlePool()
	again := newTab(t, p.savePage())
	again.settlePool()
	if got, want := again.text("#about"), p.text("#about"); got != want || got == about {
		t.Errorf("a pool: %q, want %q", got, want)
	}
	again.click("#tab-cluster")
	again.settle()
	if got := again.text("#about"); got != about {
		t.Errorf("a cluster: %q, want %q", got, about)
	}
	if n := eval[int](again, `document.querySelectorAll("#tabs button").length`); n != 2 {
		t.Errorf("%d tabs", n)
	}
}

// savePage saves the page and returns the address of the file.
func (p *tab) savePage() string {
	p.Helper()
	eval[chromedp.Void](p, `(() => {
		const before = download;
		download = (_, text) => {
			window.downloaded = text;
			download = before;
		};
	})()`)
	p.button("Save page")
	file := filepath.Join(p.TempDir(), "saved.html")
	p.must(os.WriteFile(file, []byte(eval[string](p, "window.downloaded")), 0o600))
	eval[chromedp.Void](p, "delete window.downloaded; 0")
	return "file://" + file
}
