package manager

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// The status of the largest cluster is shortened to fit in a message. The status of a small one is
// unchanged.
func TestStatusFits(t *testing.T) {
	long := strings.Repeat("n", 60)
	status := func(workers, jobs int, facts map[string]any) *wire.Status {
		s := &wire.Status{Version: wire.Version}
		for i := range workers {
			name := fmt.Sprintf("%s%d", long, i)
			s.Workers = append(s.Workers, wire.WorkerView{
				Version: wire.Version, Name: name, Process: long, Program: strings.Repeat("p", 200),
				State: wire.WorkerAvailable, Job: long,
				Task: 9999999, Attempt: math.MaxInt >> 10, Since: 1e6 / 3, Facts: facts,
			})
		}
		for i := range jobs {
			name, at := fmt.Sprintf("%s%d", long, i), 1e6/3
			s.Jobs = append(s.Jobs, wire.JobView{
				Version: wire.Version, Name: name, Batch: name, State: wire.JobFailures, Kind: long, Epoch: 1e9 + at,
				Submit: at, Start: &at, Finish: &at, Deadline: &at,
			})
		}
		return s
	}
	for _, s := range []*wire.Status{
		status(wire.MaxWorkers, wire.MostListed, map[string]any{"text": strings.Repeat("x", 4000)}),
		status(wire.MaxWorkers, wire.MostListed, nil),
		status(2, 2, map[string]any{"gpus": 2.0}),
	} {
		workers, isSmall := len(s.Workers), len(s.Workers) == 2
		fit(s)
		data, err := json.Marshal(s)
		if err != nil || len(data) > wire.MaxMessage || len(s.Workers) != workers || len(s.Jobs) == 0 {
			t.Errorf("%d bytes, %d workers, %d jobs, %v", len(data), len(s.Workers), len(s.Jobs), err)
		}
		if isSmall && (len(s.Jobs) != 2 || s.Workers[1].Facts["gpus"] != 2.0) {
			t.Errorf("%+v", s)
		}
	}
}

// Names of workers with numbers are sorted in numeric order.
func TestCompareNames(t *testing.T) {
	names := []string{"w-10", "w-9", "local", "w-09", "w-99999999999999999999", "local-1", "1", "w-1"}
	slices.SortFunc(names, compareNames)
	if got, want := strings.Join(names, " "), "1 local local-1 w-1 w-09 w-9 w-10 w-99999999999999999999"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A plan with many refusals and events is described by the first of them.
func TestDecisionsAreShort(t *testing.T) {
	p := &wire.Plan{Number: 1}
	for i := range 1000 {
		p.Refused = append(p.Refused, wire.Refusal{Sequence: uint64(i + 1), Why: strings.Repeat("w", 100)})
		p.Events = append(p.Events, dispatch.Event{Kind: dispatch.Submitted, Job: -1, Worker: -1, Task: -1})
	}
	b := &book.Book{}
	if what := describe(p, b); len(what) > 2000 || !strings.Contains(what, "1000 messages refused in total") ||
		!strings.Contains(what, "1000 events in total") {
		t.Errorf("%d bytes: %s", len(what), what)
	}
}
