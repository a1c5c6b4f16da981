package l14

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"productform/dispatch"
	"productform/plots"
	"productform/plots/internal/plotstest"
)

// The busy live workers match secondBySecond, which is independent of the live system and the
// simulation.
func checkLive(t *testing.T, f *plots.Figure) {
	_, working := secondBySecond(true)
	for _, label := range []string{"live", "simulated"} {
		s := plotstest.Series(t, f.Panels[0], label)[0]
		for now, want := range working {
			if got := stepAt(s.X, s.Y, float64(now)); got != want {
				t.Errorf("%s at %d s: %v running, want %v", label, now, got, want)
			}
		}
		if last := s.X[len(s.X)-1]; last > jobDeadline {
			t.Errorf("%s: done at %v", label, last)
		}
	}
	marks := 0
	for _, s := range f.Panels[1].Series {
		for k, at := range s.X {
			what := Killed(f.Panels[1].Y.Categories[int(s.Y[k])-1])
			if !slices.ContainsFunc(Kills(), func(kill Kill) bool { return kill.At == at && kill.What == what }) ||
				string(what) != s.Label {
				t.Errorf("%s marked at %v s in the lane %s", s.Label, at, what)
			}
			marks++
		}
	}
	if marks != len(Kills()) {
		t.Errorf("%d marks for %d kills", marks, len(Kills()))
	}
	for k, p := range f.Panels {
		if len(p.Regions) != 1 || p.Regions[0].From != outageFrom || p.Regions[0].To != outageTo ||
			p.Regions[0].Label != "6 down" {
			t.Errorf("panel %d: outages %+v", k, p.Regions)
		}
	}
}

// Processes are killed at moments of the run, in order; a killed worker is running a task.
func TestKills(t *testing.T) {
	moments, err := readRecord(liveRecord)
	if err != nil {
		t.Fatal(err)
	}
	hands, kills := map[int]int{}, Kills()
	for _, m := range moments {
		for _, e := range m.events {
			switch e.Kind {
			case dispatch.Started:
				hands[e.Worker]++
			case dispatch.Finished, dispatch.Lost:
				hands[e.Worker]--
			}
		}
		for len(kills) > 0 && kills[0].At == m.at {
			if kills[0].What == KilledWorker && hands[kills[0].Worker] != 1 {
				t.Errorf("%+v is not running a task", kills[0])
			}
			kills = kills[1:]
		}
	}
	if len(kills) > 0 {
		t.Errorf("%+v is not at a moment, or out of order", kills[0])
	}
	if n := countKills(); n["server"] != 2 || n["manager"] != 2 || n["worker"] < 3 {
		t.Errorf("killed: %v", n)
	}
}

// Any difference from the simulation is detected.
func TestRecordDiffers(t *testing.T) {
	want, _, err := simulated(t.Context(), FailingJob())
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func([]moment) []moment{
		"a time one digit off": func(m []moment) []moment { m[9].at = math.Nextafter(m[9].at, 0); return m },
		"another attempt":      func(m []moment) []moment { m[0].events[1].Attempt++; return m },
		"one event missing":    func(m []moment) []moment { m[4].events = m[4].events[1:]; return m },
		"an extra event": func(m []moment) []moment {
			m[4].events = append(m[4].events, m[4].events[0])
			return m
		},
		"one moment missing": func(m []moment) []moment { return m[:len(m)-1] },
		"an extra moment":    func(m []moment) []moment { return append(m, m[0]) },
		"nothing":            func(m []moment) []moment { return m },
	} {
		got, err := readRecord(liveRecord)
		if err != nil {
			t.Fatal(err)
		}
		got = change(got)
		events, alike := countAgreeing(want, got)
		recorded, _ := countAgreeing(got, want)
		if same := events == alike && events == recorded; same != (what == "nothing") {
			t.Errorf("%s: %d events, %d identical, %d recorded", what, events, alike, recorded)
		}
	}
}

func TestReadRecord(t *testing.T) {
	const head = "# made by hand\ntime,kind,job,task,worker,attempt\n"
	got, err := readRecord([]byte(head + "0,submitted,0,-1,-1,0\n0,started,0,2,1,1\n1.5,finished,0,2,1,1\n"))
	if err != nil || len(got) != 2 || got[0].at != 0 || got[1].at != 1.5 || !slices.Equal(
		got[0].events, []dispatch.Event{
			{Kind: dispatch.Submitted, Task: -1, Worker: -1}, {Kind: dispatch.Started, Task: 2, Worker: 1, Attempt: 1}},
	) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{
		"", "time,kind\n", head + "soon,started,0,2,1,1\n", head + "0,started,0,x,1,1\n", head + "0,started\n",
	} {
		if _, err := readRecord([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if !bytes.HasPrefix(liveRecord, []byte("# productform/live, ")) {
		t.Error("the record does not state its origin")
	}
}
