package manager

import (
	"cmp"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/live/wire"
)

// Settings configure a manager.
type Settings struct {
	Name  string         // unique among the managers
	Rules dispatch.Rules // rules to follow when it leads
	Rigid rigid.Policy   // if nonzero, the policy that starts all tasks of a job together; Rules are zero then

	// Logical selects a logical clock: a script sets up a replay, with its own period between
	// plans. No worker is declared missing and no job is cleared, so LostAfter, Replan and Keep
	// have no effect.
	Logical bool

	LostAfter time.Duration // silence after which a worker is down; 0 for 2 s
	Replan    time.Duration // time between plans if nothing happens; 0 for never
	Keep      time.Duration // time after which a finished job is cleared; 0 for 7 days
	Settle    time.Duration // time to wait for more inputs of the same moment; 0 for none

	Now    func() time.Time // the clock; nil for the system clock
	Random io.Reader        // source of keys and terms; nil for crypto/rand

	Log      *slog.Logger          // nil for none
	Registry prometheus.Registerer // for the durations of decisions and appends; nil for none
}

// defaults returns the settings with zeros replaced by defaults.
func (s Settings) defaults() Settings {
	s.LostAfter = cmp.Or(s.LostAfter, 2*time.Second)
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Random == nil {
		s.Random = rand.Reader
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Check rejects invalid settings, as [Run] does. The error is an *[num.InputError].
func (s Settings) Check() error {
	s = s.defaults()
	return s.check()
}

func (s *Settings) check() error {
	if err := wire.CheckName("name", s.Name); err != nil {
		return err
	}
	for _, d := range []struct {
		path  string
		value time.Duration
		least time.Duration
	}{
		{"lost_after", s.LostAfter, time.Millisecond}, {"replan", s.Replan, 0}, {"keep", s.Keep, 0},
		{"settle", s.Settle, 0},
	} {
		if d.value < d.least {
			return input.Errorf(d.path, d.value, "a duration of at least %v", d.least)
		}
	}
	return nil
}

// times are the histograms of durations.
type times struct{ append, decide, fold, start prometheus.Histogram }

func newTimes(registry prometheus.Registerer) (*times, error) {
	histogram := func(name, help string, from float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "pfq_" + name + "_seconds", Help: help, Buckets: prometheus.ExponentialBuckets(from, 2, 16),
		})
	}
	t := &times{
		append: histogram("append", "Time of an append to the log of plans.", 1e-4),
		decide: histogram("decide", "Time of a decision.", 1e-6),
		fold:   histogram("fold", "Time from the lease to the first decision.", 1e-3),
		start: histogram(
			"submit_to_start", "Time from when the server took a job to the order for its first task, by their clocks.",
			1e-4,
		),
	}
	if registry == nil {
		return t, nil
	}
	for _, c := range []prometheus.Collector{t.append, t.decide, t.fold, t.start} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return t, nil
}
