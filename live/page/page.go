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

// answerTime bounds how long a manager may take to answer, and mostWatchers how many pages are kept up to date at a time.
const (
	answerTime   = time.Second
	writeTime    = 10 * time.Second // that a reader may take for what is sent at a time
	refreshEvery = time.Second
	mostWatchers = 50
)

// policy of the page: what it may load is in this package, and no other page may show it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// A page asks the manager that leads, whichever that is.
type page struct {
	nc       *nats.Conn
	template *template.Template
	watchers chan struct{} // has a place for each
	done     <-chan struct{}
}

// Handler returns the handler of all of it. It asks the manager through the connection, and adds to the metrics of the
// registry what the manager tells. Pages that are open end with the context.
func Handler(ctx context.Context, nc *nats.Conn, registry *prometheus.Registry) (http.Handler, error) {
	p := &page{nc: nc, watchers: make(chan struct{}, mostWatchers), done: ctx.Done()}
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

// guard sets the headers of all answers, and the time that a reader has for them. It answers requests to this machine alone under a name of this machine, so that
// no page of a browser here can read along by giving its own name our address.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // connections have one
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(local.String()) && !isLoopback(r.Host) {
			http.Error(w, "this page is at 127.0.0.1", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether an address, with a port or without one, is of this machine alone.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ask asks a service of the manager.
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

// body returns what is shown now, of the job asked for or else the first one.
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

// reason says in words why no manager answers.
func reason(err error) string {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return "no manager leads"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return "no manager answers"
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

// events sends what is shown anew every second, until the reader or the program goes.
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
		_ = out.SetWriteDeadline(time.Now().Add(writeTime)) // a reader that hangs gives its place up
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
