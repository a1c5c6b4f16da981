package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"productform/dispatch"
	"productform/live/wire"
	"productform/plots/l14"
)

var update = flag.Bool("update", false, "rewrite the record of the live system that figure dispatch-9 draws")

const recordFile = "../../../plots/l14/records/failing-job.csv"

// In [L14], section 6.2 and Figure 6.1, 6 of 8 workers fail at 55 s and return at 115 s. After
// that, more workers run tasks than the initial 4, and the job meets its deadline of 240 s. The
// live system matches the simulation, and figure dispatch-9 draws its events: "go test
// ./cmd/pfq-live -run TestFailingJob -update" writes the record.
func TestFailingJob(t *testing.T) {
	s := Scenario{Scenario: l14.FailingJob()}
	want, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := RunScenario(t.Context(), s, ScenarioSettings{Pace: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := Compare(got, want); err != nil {
		t.Error(err)
	}
	if finish := got.Result.Jobs[0].Finish; !(finish <= 240) {
		t.Errorf("done at %v s, after the deadline", finish)
	}
	least, most := count(got, 55, 115)
	if least != 2 || most != 2 {
		t.Errorf("%d to %d workers run tasks while 6 of 8 are down", least, most)
	}
	_, before := count(got, 0, 55)
	if _, after := count(got, 115, math.Inf(1)); before != 4 || after <= before {
		t.Errorf("at most %d workers run tasks before the failures, %d after the return", before, after)
	}
	text := record(got)
	if *update {
		if err := os.WriteFile(recordFile, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(recordFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, text) {
		t.Errorf("%s differs from the live system", recordFile)
	}
}

// If spare workers are used, all available workers run tasks: 8, then 2, and again 8 when they
// return.
func TestFailingJobOnAllWorkers(t *testing.T) {
	s := Scenario{Scenario: l14.FailingJob()}
	s.Policy.Spare = dispatch.SpareByPriority
	want, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := RunScenario(t.Context(), s, ScenarioSettings{Pace: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := Compare(got, want); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		from, to float64
		want     int
	}{{0, 55, 8}, {55, 115, 2}, {115, 120, 8}} {
		if least, most := count(got, c.from, c.to); least != c.want || most != c.want {
			t.Errorf("from %v s to %v s: %d to %d workers run tasks, want %d", c.from, c.to, least, most, c.want)
		}
	}
	if finish := got.Result.Jobs[0].Finish; !(finish <= 240) {
		t.Errorf("done at %v s, after the deadline", finish)
	}
}

// count returns the minimum and the maximum number of running tasks between two times.
func count(l *Log, from, to float64) (least, most int) {
	least, held := math.MaxInt, 0
	for _, m := range l.Moments {
		if m.At >= to {
			break
		}
		for _, e := range m.Events {
			switch e.Kind {
			case dispatch.Started:
				held++
			case dispatch.Finished, dispatch.Lost:
				held--
			}
		}
		if m.At >= from {
			least, most = min(least, held), max(most, held)
		}
	}
	return least, most
}

// record writes the events of a run, one per line.
func record(l *Log) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# productform/live, messages of version %d, on the logical clock; written in live/ by: go test "+
		"./cmd/pfq-live -run TestFailingJob -update\n", wire.Version)
	w := csv.NewWriter(&b)
	rows := [][]string{{"time", "kind", "job", "task", "worker", "attempt"}}
	for _, m := range l.Moments {
		for _, e := range m.Events {
			rows = append(rows, []string{
				strconv.FormatFloat(m.At, 'g', -1, 64), string(e.Kind), strconv.Itoa(e.Job), strconv.Itoa(e.Task),
				strconv.Itoa(e.Worker), strconv.Itoa(e.Attempt),
			})
		}
	}
	_ = w.WriteAll(rows) // writing to a buffer cannot fail
	return b.Bytes()
}
