package main

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/live/replay"
)

// killEvery is the time between two kills.
const killEvery = 700 * time.Millisecond

// hardScenario has jobs that wait for one another on workers that fail, by the clock of the replay.
func hardScenario(seed uint64, policy dispatch.Policy) dispatch.Scenario {
	r := rand.New(rand.NewPCG(seed, 1))
	s := dispatch.Scenario{Policy: policy, Speeds: []float64{1, 0.7, 1.3, 0.9}}
	at := 0.0
	for range 4 {
		at += 40 * r.Float64()
		j := dispatch.Job{Submit: at, Deadline: at + 300*r.Float64() + 1, Priority: float64(r.IntN(5)), Tasks: 5 + r.IntN(10)}
		for range j.Tasks {
			j.Works = append(j.Works, 60*r.Float64())
		}
		s.Jobs = append(s.Jobs, j)
	}
	for w := range 3 {
		s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: 100 + 30*r.Float64(), To: 300 + 30*r.Float64()})
	}
	return s
}

// Processes are killed all the time, server, manager and workers, and what happens is the simulation to the last digit.
// PFQ_LIVE_LONG=N runs N cases.
func TestReplayUnderKills(t *testing.T) {
	for seed := range uint64(hours(t)) {
		policy, err := dispatch.ParsePolicy([]string{"deadline/priority", "proportion", "priority", "workload:100", "deadline/kept", "edf"}[seed%6])
		if err != nil {
			t.Fatal(err)
		}
		t.Run(policy.String()+"-"+strconv.FormatUint(seed, 10), func(t *testing.T) { replayUnderKills(t, seed, hardScenario(seed, policy)) })
	}
}

func replayUnderKills(t *testing.T, seed uint64, s dispatch.Scenario) {
	ctx := limited(t, 100*time.Second)
	want, err := replay.Simulate(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	url := "nats://" + address
	commands := [][]string{
		{"server", "--store", t.TempDir(), "--listen", address, "--sync", "2m"},
		{"manager", "--url", url, "--name", "m1", "--logical", "--policy", s.Policy.String()},
	}
	for w, v := range s.Speeds {
		commands = append(commands, []string{
			"worker", "--url", url, "--name", replay.WorkerName(w), "--speed", strconv.FormatFloat(v, 'g', -1, 64), "--pace", "400",
		})
	}
	processes := make([]*process, len(commands))
	for k, c := range commands {
		processes[k] = start(t, c...)
	}
	nc, err := connect(ctx, url, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, err = js.Stream(ctx, "PFQ_BLOB"); err != nil; _, err = js.Stream(ctx, "PFQ_BLOB") { // until the server has made all
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		rest(ctx, 20*time.Millisecond)
	}
	if err := replay.Publish(ctx, js, &s); err != nil {
		t.Fatal(err)
	}
	type outcome struct {
		log *replay.Log
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		l, err := replay.Read(ctx, js, &s, func(int) {})
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
			if err := replay.Compare(got.log, want); err != nil {
				t.Error(err)
			}
			if kills < 3 { // one of each kind
				t.Errorf("only %d kills", kills)
			}
			t.Logf("%d tasks, %d moments, %d kills", want.Result.Tasks, len(want.Moments), kills)
			return
		case <-tick.C:
			k := kills // at first each kind in turn
			if k > 2 {
				k = r.IntN(len(commands))
			}
			processes[k].kill()
			processes[k] = start(t, commands[k]...)
		}
	}
}
