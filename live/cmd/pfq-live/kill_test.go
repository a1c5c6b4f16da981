package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/internal/cli"
	"productform/live/wire"
)

// killEvery is the time between two kills.
const killEvery = 700 * time.Millisecond

// hardScenario returns jobs that wait for one another on workers that fail, on the clock of the
// replay. Under a baseline, all workers are equal and so are the tasks of a job, and jobs request
// more time than they take.
func hardScenario(seed uint64, policy cli.Policy) Scenario {
	r := rand.New(rand.NewPCG(seed, 1))
	s := Scenario{Scenario: dispatch.Scenario{Policy: policy.Policy, Speeds: []float64{1, 0.7, 1.3, 0.9}}}
	if policy.Baseline != nil {
		s.Rigid, s.Speeds = *policy.Baseline, []float64{1, 1, 1, 1}
	}
	at := 0.0
	for range 4 {
		at += 40 * r.Float64()
		j := dispatch.Job{
			Submit:   at,
			Deadline: at + 300*r.Float64() + 1,
			Priority: float64(r.IntN(5)),
			Tasks:    5 + r.IntN(10),
		}
		for range j.Tasks {
			j.Works = append(j.Works, 60*r.Float64())
		}
		s.Jobs = append(s.Jobs, j)
	}
	if policy.Baseline != nil {
		s.Jobs = nil
		for at = 0; len(s.Jobs) < 12; at += 20 * r.Float64() {
			work := 100 * r.Float64()
			s.Jobs = append(s.Jobs, dispatch.Job{
				Submit:   at,
				Tasks:    1 + r.IntN(4),
				Work:     work,
				Estimate: work * (1 + r.Float64()),
			})
		}
	}
	for w := range 3 {
		s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: 100 + 30*r.Float64(), To: 300 + 30*r.Float64()})
	}
	return s
}

// Server, manager and workers are killed repeatedly, and the events still match the simulation to
// the last digit. PFQ_LIVE_LONG=N runs 2N cases.
func TestReplayUnderKills(t *testing.T) {
	t.Parallel() // mostly waits
	names := []string{
		"deadline/priority", "easy", "proportion", "conservative", "priority", "fcfs", "workload:100",
		"sjf", "deadline/kept", "easy/sjf", "edf",
	}
	for seed := range uint64(2 * hours(t)) {
		policy, err := cli.ParsePolicy(names[seed%uint64(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		t.Run(policy.String()+"-"+strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			replayUnderKills(t, seed, hardScenario(seed, policy))
		})
	}
}

func replayUnderKills(t *testing.T, seed uint64, s Scenario) {
	ctx := limited(t, 100*time.Second)
	want, err := Simulate(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	v := startReplay(ctx, t, &s, 400)
	type outcome struct {
		log *Log
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		l, err := Read(ctx, v.js, &s, func(int) {})
		ended <- outcome{l, err}
	}()
	r := rand.New(rand.NewPCG(seed, 2))
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	for kills := 0; ; kills++ {
		select {
		case got := <-ended:
			if got.err != nil {
				t.Fatal(got.err)
			}
			if err := Compare(got.log, want); err != nil {
				t.Error(err)
			}
			if kills < 3 { // kill each kind once
				t.Errorf("only %d kills", kills)
			}
			t.Logf("%d jobs, %d moments, %d kills", len(s.Jobs), len(want.Moments), kills)
			return
		case <-tick.C:
			k := kills // at first each kind in turn
			if k > 2 {
				k = r.IntN(len(v.commands))
			}
			v.killAndStart(t, k)
		}
	}
}

// A replaySystem is a replay by processes: the server, the manager, then the workers.
type replaySystem struct {
	commands  [][]string
	processes []*process
	js        jetstream.JetStream
}

// startReplay starts the processes and publishes the scenario. The processes end with the test.
func startReplay(ctx context.Context, t *testing.T, s *Scenario, pace float64) *replaySystem {
	address := freeAddress(t)
	url := "nats://" + address
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	m := []string{"manager", "--url", url, "--name", "m1", "--logical", "--policy", s.PolicyName()}
	if s.Learning.Default > 0 {
		m = append(m, "--learn", number(s.Learning.Default), "--learn-last", strconv.Itoa(s.Learning.Window))
	}
	v := &replaySystem{commands: [][]string{{"server", "--store", t.TempDir(), "--listen", address, "--sync", "2m"}, m}}
	for w, speed := range s.Speeds {
		v.commands = append(v.commands, []string{
			"worker", "--url", url, "--name", WorkerName(w), "--speed", number(speed), "--pace", number(pace),
		})
	}
	for _, c := range v.commands {
		v.processes = append(v.processes, start(t, c...))
	}
	nc, err := connect(ctx, url, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if v.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	awaitStreams(ctx, t, v.js)
	if err := Publish(ctx, v.js, s); err != nil {
		t.Fatal(err)
	}
	return v
}

// killAndStart kills and restarts the process with an index.
func (v *replaySystem) killAndStart(t *testing.T, k int) {
	v.processes[k].kill()
	v.processes[k] = start(t, v.commands[k]...)
}

// awaitStreams waits until all streams and buckets exist.
func awaitStreams(ctx context.Context, t testing.TB, js jetstream.JetStream) {
	t.Helper()
	for {
		try, cancel := context.WithTimeout(ctx, time.Second)
		_, err := js.KeyValue(try, wire.ProfilesBucket) // created last
		cancel()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		sleep(ctx, 20*time.Millisecond)
	}
}
