package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"productform/dispatch"
	"productform/live/internal/servertest"
	"productform/live/wire"
)

func value[T any](v T) *T { return &v }

// twoJobs is a status with a running and a finished job, and two workers that are up and one that
// is down.
func twoJobs() (wire.Status, wire.History) {
	s := wire.Status{
		Version: 1, Leading: 1.5,
		Cluster: wire.ClusterView{
			Version: 1, Leader: "m1", Plan: 17, Epoch: 1e9, At: 40, Policy: "deadline/priority",
			Counts: wire.Counts{Jobs: 3, Completed: 1, Tasks: 30, Begun: 14, Finished: 12, Lost: 1, Late: 2},
		},
		Resent: 4,
		Jobs: []wire.JobView{
			{
				Version: 1, Name: "bills", State: wire.JobPresent, Tasks: 20, Left: 8, Hand: 2, Planned: 2,
				Priority: 5, Submit: 1, Deadline: value(100.0), Start: value(1.0),
			},
			{
				Version: 1,
				Name:    "<b>mail</b>",
				State:   wire.JobCompleted,
				Tasks:   4,
				Submit:  2,
				Start:   value(2.0),
				Finish:  value(9.25),
			},
		},
		Workers: []wire.WorkerView{
			{
				Version: 1, Name: "w1", State: wire.WorkerBusy, Speed: 1, Job: "bills", Task: 12, Attempt: 13,
				Since: 38, Heard: value(39.8), Finished: 6,
			},
			{
				Version: 1, Name: "w2", State: wire.WorkerBusy, Speed: 2, Job: "bills", Task: 13, Attempt: 14,
				Since: 39, Heard: value(39.9), Finished: 6,
			},
			{Version: 1, Name: "w3", State: wire.WorkerDown, Speed: 1, Since: 20, Lost: 1},
		},
	}
	h := wire.History{
		Version: 1, Now: 40,
		Decisions: []wire.Decision{{Plan: 17, At: 39, What: "w2 starts task 13 of bills"}},
		Spans: []wire.Span{
			{Worker: "w1", Job: "bills", Task: 1, Attempt: 1, From: 1, To: value(38.0), How: "finished"},
			{Worker: "w3", Job: "bills", Task: 2, Attempt: 2, From: 1, To: value(20.0), How: "lost"},
			{Worker: "w1", Job: "bills", Task: 12, Attempt: 13, From: 38},
		},
		Curve: []wire.Point{{At: 1, Planned: 3, Hand: 1}, {At: 20, Planned: 2, Hand: 2}},
	}
	return s, h
}

// open starts a server with answer as its manager, and returns the address of the page.
func open(t *testing.T, answer func(subject, question string) any) string {
	nc := servertest.Connect(t, servertest.Start(t))
	if answer != nil {
		_, err := nc.Subscribe("pfq.api.*", func(m *nats.Msg) {
			if data, err := json.Marshal(answer(m.Subject, string(m.Data))); err == nil {
				_ = m.Respond(data)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	h, err := Handler(ctx, nc, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(func() { cancel(); web.Close() })
	return web.URL
}

// get returns the response to a request and checks its status.
func get(t *testing.T, url string, status int) (string, http.Header) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != status {
		t.Errorf("%s: status %d, want %d: %s", url, r.StatusCode, status, body)
	}
	return string(body), r.Header
}

func manager(subject, question string) any {
	s, h := twoJobs()
	switch subject {
	case wire.StatusService:
		return s
	case wire.HistoryService:
		if question != "bills" {
			h.Curve = nil
		}
		return h
	}
	return dispatch.Result{PriorityViolationRate: 0.25, Utilization: 0.5}
}

func TestPageShowsStatus(t *testing.T) {
	url := open(t, manager)
	body, header := get(t, url+"/", 200)
	for _, want := range []string{
		"m1 leads", "deadline/priority",
		"12 / 20", "9.25",
		"w3", "down",
		"Workers of bills", "w2 starts task 13 of bills",
		"&lt;b&gt;mail", "#0072b2",
		"task 2, attempt 2: 1 to 20, lost", "and 1 more",
		"<dt>jobs present</dt><dd>2</dd>", "<dt>jobs completed</dt><dd>1 of 3</dd>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<b>mail", "ZgotmplZ", "http://", "https://", "NaN", "style="} {
		if strings.Contains(body, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if p := header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'") ||
		strings.Contains(p, "unsafe") {
		t.Errorf("Content-Security-Policy %q", p)
	}
	if other, _ := get(t, url+"/?job=mail", 200); strings.Contains(other, "Workers of") {
		t.Error("a curve is shown for a job that has none")
	}
	for _, file := range []string{"/page.css", "/page.js"} {
		if text, _ := get(t, url+file, 200); len(text) < 100 {
			t.Errorf("%s: %q", file, text)
		}
	}
	get(t, url+"/other", 404)
}

func TestPageSendsEvents(t *testing.T) {
	url := open(t, manager)
	r, err := http.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	var first, second string
	for into := &first; lines.Scan(); {
		switch line := lines.Text(); {
		case line == "" && into == &second:
			into = nil
		case line == "":
			into = &second
		case !strings.HasPrefix(line, "data: "):
			t.Fatalf("line %q is not an event", line)
		default:
			*into += line + "\n"
		}
		if into == nil {
			break
		}
	}
	if first != second || !strings.Contains(first, "m1 leads") {
		t.Errorf("events %q and %q", first, second)
	}
}

// A deadlined records the write deadlines that are set.
type deadlined struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// A reader that stops reading is dropped after a while: each write has a deadline, also on pages
// that stay open.
func TestWritesHaveDeadlines(t *testing.T) {
	nc := servertest.Connect(t, servertest.Start(t))
	h, err := Handler(t.Context(), nc, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	// one for the headers, and two events
	for path, least := range map[string]int{"/": 1, "/metrics": 1, "/events": 3} {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		d := &deadlined{ResponseRecorder: httptest.NewRecorder()}
		begun := time.Now()
		h.ServeHTTP(d, httptest.NewRequest("GET", path, nil).WithContext(ctx))
		cancel()
		if len(d.set) < least {
			t.Errorf("%s: %d times for writes, want %d", path, len(d.set), least)
		}
		for _, at := range d.set {
			if wait := at.Sub(begun); wait < time.Second || wait > time.Minute {
				t.Errorf("%s: a write has %v", path, wait)
			}
		}
	}
}

func TestMetrics(t *testing.T) {
	body, _ := get(t, open(t, manager)+"/metrics", 200)
	for _, want := range []string{
		"pfq_leader 1", `pfq_jobs{state="present"} 2`,
		`pfq_workers{state="busy"} 2`, `pfq_workers{state="down"} 1`,
		`pfq_tasks{state="waiting"} 16`, "pfq_tasks_lost_total 1",
		"pfq_orders_resent_total 4", "pfq_priority_violation_rate 0.25",
	} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("metrics lack %q:\n%s", want, body)
		}
	}
}

func TestNoManager(t *testing.T) {
	url := open(t, nil)
	if body, _ := get(t, url+"/", 200); !strings.Contains(body, "no manager leads") {
		t.Errorf("page: %s", body)
	}
	if body, _ := get(t, url+"/healthz", 503); body != "no manager leads\n" {
		t.Errorf("healthz: %q", body)
	}
	if body, _ := get(t, url+"/metrics", 200); !strings.Contains(body, "pfq_leader 0\n") {
		t.Errorf("metrics: %s", body)
	}
}

func TestReadOnly(t *testing.T) {
	url := open(t, manager)
	if body, _ := get(t, url+"/healthz", 200); body != "ok: m1 leads\n" {
		t.Errorf("healthz: %q", body)
	}
	r, err := http.Post(url+"/", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", r.StatusCode)
	}
	// A foreign web page whose name resolves to this machine.
	q, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Host = "elsewhere.example"
	if r, err = http.DefaultClient.Do(q); err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another name: status %d, want 421", r.StatusCode)
	}
}
