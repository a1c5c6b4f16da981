package page

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"productform/live/wire"
)

//go:embed assets
var assets embed.FS

// answerTime is the time limit of a manager's response. maxWatchers is the maximum number of pages
// that are updated at a time.
const (
	answerTime   = time.Second
	writeTime    = 10 * time.Second // time limit of one write to a reader
	refreshEvery = time.Second
	maxWatchers  = 50
)

// contentPolicy allows the page to load only the files of this package, and forbids other pages to
// embed it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src " +
	"'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// A page requests data from the leading manager.
type page struct {
	nc       *nats.Conn
	template *template.Template
	watchers chan struct{} // has a slot per watcher
	done     <-chan struct{}
}

// Handler returns the handler of all pages. It requests data from the manager through the
// connection, and adds the manager's metrics to the registry. Open pages end with the context.
func Handler(ctx context.Context, nc *nats.Conn, registry *prometheus.Registry) (http.Handler, error) {
	p := &page{nc: nc, watchers: make(chan struct{}, maxWatchers), done: ctx.Done()}
	var err error
	if p.template, err = template.New("").Funcs(functions).ParseFS(assets, "assets/*.html"); err != nil {
		return nil, err
	}
	if err := registry.Register(&collector{p}); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.show)
	mux.HandleFunc("GET /events", p.events)
	mux.HandleFunc("GET /healthz", p.health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	for _, name := range []string{"page.css", "page.js"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, assets, "assets/"+name)
		})
	}
	return guard(mux), nil
}

// guard sets the headers and the time limits of all responses. Requests to a loopback address must
// use a loopback name. Otherwise a foreign web page could read this page by pointing its own name
// at this machine.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		// network connections support deadlines
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(local.String()) &&
			!isLoopback(r.Host) {
			http.Error(w, "this page is at 127.0.0.1", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether an address, with or without a port, is a loopback address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ask sends a request to a service of the manager.
func (p *page) ask(ctx context.Context, service, question string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	m, err := p.nc.RequestWithContext(ctx, service, []byte(question))
	if err != nil {
		return err
	}
	if why := m.Header.Get("Nats-Service-Error"); why != "" {
		return errors.New(why)
	}
	return json.Unmarshal(m.Data, answer)
}

// body returns the current content, for the requested job, or for the first one if none is
// requested.
func (p *page) body(ctx context.Context, job string) ([]byte, error) {
	var status wire.Status
	var history wire.History
	err := p.ask(ctx, wire.StatusService, "", &status)
	if job == "" && len(status.Jobs) > 0 {
		job = status.Jobs[0].Name
	}
	if err == nil {
		err = p.ask(ctx, wire.HistoryService, job, &history)
	}
	var b bytes.Buffer
	if err != nil {
		err = p.template.ExecuteTemplate(&b, "away.html", reason(err))
	} else {
		err = p.template.ExecuteTemplate(&b, "body.html", look(&status, &history, job))
	}
	return b.Bytes(), err
}

// reason explains why no manager responds.
func reason(err error) string {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return "no manager leads"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return "no manager responds"
	}
	return err.Error()
}

func (p *page) show(w http.ResponseWriter, r *http.Request) {
	body, err := p.body(r.Context(), r.FormValue("job"))
	if err == nil {
		var b bytes.Buffer
		if err = p.template.ExecuteTemplate(&b, "page.html", template.HTML(body)); err == nil { // made by a template
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(b.Bytes()) // the reader may be gone
			return
		}
	}
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// events sends the current content every second, until the reader disconnects or the program ends.
func (p *page) events(w http.ResponseWriter, r *http.Request) {
	select {
	case p.watchers <- struct{}{}:
		defer func() { <-p.watchers }()
	default:
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		body, err := p.body(r.Context(), r.FormValue("job"))
		if err != nil {
			return
		}
		var b bytes.Buffer
		for line := range bytes.Lines(body) {
			b.WriteString("data: ")
			b.Write(bytes.TrimRight(line, "\r\n"))
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
		_ = out.SetWriteDeadline(time.Now().Add(writeTime)) // a reader that hangs loses its slot
		if _, err := w.Write(b.Bytes()); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-p.done:
			return
		case <-tick.C:
		}
	}
}

func (p *page) health(w http.ResponseWriter, r *http.Request) {
	var status wire.Status
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := p.ask(r.Context(), wire.StatusService, "", &status); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(reason(err) + "\n"))
		return
	}
	_, _ = w.Write([]byte("ok: " + status.Cluster.Leader + " leads\n"))
}
