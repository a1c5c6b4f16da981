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

// newLog returns a structured log in the form of --log, without floods of the same problem.
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

// repeatPeriod is the shortest time between two lines about one problem.
const repeatPeriod = 5 * time.Second

// A problem is a message with the error that it gives, whoever reports it.
type problem struct{ message, err string }

// sightings count the lines about a problem since the last one that was written.
type sightings struct {
	written    time.Time
	suppressed int
}

// problems are those that were logged lately.
type problems struct {
	mu   sync.Mutex
	seen map[problem]*sightings
}

// repeats is a handler that writes the first line about a problem, and then at most one line each
// [repeatPeriod], which counts the lines that it stands for. Lines without an error are all
// written.
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

// problemOf returns what a line is about, if it gives an error.
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

// note counts a line, and reports whether to write it, and how many lines were not written before.
func (s *problems) note(p problem, now time.Time) (suppressed int, isDue bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.seen[p]; was != nil && now.Sub(was.written) < repeatPeriod {
		was.suppressed++
		return 0, false
	} else if was != nil {
		suppressed = was.suppressed
	}
	for other, was := range s.seen { // the map stays small, and counts last at least a minute
		if now.Sub(was.written) > time.Minute {
			delete(s.seen, other)
		}
	}
	s.seen[p] = &sightings{written: now}
	return suppressed, true
}
