package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
)

// newLog returns a structured log in the format of --log that limits repeated problems.
func newLog(w io.Writer, form string) *slog.Logger {
	var h slog.Handler = slog.NewTextHandler(w, nil)
	if form == "json" {
		h = slog.NewJSONHandler(w, nil)
	}
	return slog.New(&repeats{h, &problems{seen: map[problem]*sightings{}}})
}

func addLog(cmd *cobra.Command, form *string) {
	cli.AddChoice(cmd, form, "log", []string{"text", "json"}, "form of the log on the standard error")
}

// repeatPeriod is the minimum time between two lines about one problem.
const repeatPeriod = 5 * time.Second

// A problem is a message with an error, from any source.
type problem struct{ message, err string }

// sightings counts the lines about a problem since the last one that was written.
type sightings struct {
	written    time.Time
	suppressed int
}

// problems holds the recently logged problems.
type problems struct {
	mu   sync.Mutex
	seen map[problem]*sightings
}

// repeats is a handler that writes the first line about a problem, and then at most one line per
// [repeatPeriod] with the number of suppressed lines. It writes all lines without an error.
type repeats struct {
	slog.Handler
	problems *problems
}

func (h *repeats) Handle(ctx context.Context, r slog.Record) error {
	p, isProblem := problemOf(r)
	if !isProblem {
		return h.Handler.Handle(ctx, r)
	}
	suppressed, isDue := h.problems.note(p, r.Time)
	if !isDue {
		return nil
	}
	if suppressed > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("suppressed", suppressed))
	}
	return h.Handler.Handle(ctx, r)
}

func (h *repeats) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &repeats{h.Handler.WithAttrs(attrs), h.problems}
}

func (h *repeats) WithGroup(name string) slog.Handler {
	return &repeats{h.Handler.WithGroup(name), h.problems}
}

// problemOf returns the problem of a line that has an error.
func problemOf(r slog.Record) (p problem, ok bool) {
	p.message = r.Message
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "error", "why", "says":
			p.err, ok = a.Value.String(), true
		}
		return !ok
	})
	return p, ok
}

// note counts a line. It reports whether to write the line, and how many lines were suppressed
// before.
func (s *problems) note(p problem, now time.Time) (suppressed int, isDue bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.seen[p]; was != nil && now.Sub(was.written) < repeatPeriod {
		was.suppressed++
		return 0, false
	} else if was != nil {
		suppressed = was.suppressed
	}
	for other, was := range s.seen { // keeps the map small but counts for at least a minute
		if now.Sub(was.written) > time.Minute {
			delete(s.seen, other)
		}
	}
	s.seen[p] = &sightings{written: now}
	return suppressed, true
}
