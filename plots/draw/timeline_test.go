package draw

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

// Columns have a round width and cover the time. Their number is at most the maximum and not much
// smaller, since successive widths differ by a factor of at most 2.5, or 3 in two cases.
func TestColumnWidth(t *testing.T) {
	for end, want := range map[float64]float64{
		76: 1, 77: 2, 30: 0.5, 0.03: 0.0005, 190: 2.5, 380: 5, 760: 10, 1520: 20, 1521: 25, 2280: 50, 2281: 60,
		76 * 300: 300, 76 * 3600: 3600, 76 * 43200: 43200, 76 * 43201: 86400, 76 * 864000: 864000, 1e-50: 2e-52,
	} {
		if got := columnWidth(end); got != want {
			t.Errorf("%v s: columns of %v, want %v", end, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		end := math.Pow(10, rapid.Float64Range(-100, 100).Draw(t, "log10 end"))
		columns := end / columnWidth(end)
		if columns*(1-columnTol) > mostColumns || columns < mostColumns/3 {
			t.Errorf("%v s in %v columns", end, columns)
		}
	})
}

// drawScenario draws jobs, different workers, and temporary outages.
func drawScenario(t *rapid.T) dispatch.Scenario {
	s := dispatch.Scenario{Policy: dispatch.Policy{Rule: rapid.SampledFrom(dispatch.AllRules()).Draw(t, "rule")}}
	s.Speeds = rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 3}), 1, 5).Draw(t, "speeds")
	for range rapid.IntRange(1, 8).Draw(t, "jobs") {
		s.Jobs = append(s.Jobs, dispatch.Job{
			Submit:   rapid.Float64Range(0, 20).Draw(t, "submit"),
			Priority: rapid.Float64Range(1, 3).Draw(t, "priority"),
			Tasks:    rapid.IntRange(1, 9).Draw(t, "tasks"),
			Work:     rapid.SampledFrom([]float64{0, 1, 2.5, 7}).Draw(t, "work"),
		})
	}
	s.Jobs[0].Submit, s.Jobs[0].Work = 0, 1
	if rapid.Bool().Draw(t, "emergency") {
		s.Emergency = 2
	}
	for w := range s.Speeds {
		from := rapid.Float64Range(0, 10).Draw(t, "from")
		s.Outages = append(s.Outages, dispatch.Outage{
			Worker: w,
			From:   from,
			To:     from + rapid.Float64Range(0.1, 9).Draw(t, "for"),
		})
	}
	return s
}

// The columns sum to the measures of the run: busy workers to the utilization plus waste, relative
// to the uptime of workers; jobs present to the delays; workers down to the outages; waiting tasks
// to the time since submission minus the running time.
func TestTimelineAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		result, err := dispatch.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		decided := 0
		line, err := New(t.Context(), s, result, nil, func(*dispatch.Decision) { decided++ })
		if err != nil {
			t.Fatal(err)
		}
		sum := func(list []float64) (sum float64) {
			for _, v := range list {
				sum += v
			}
			return sum
		}
		end := result.Makespan // the first job arrives at 0
		var delays, down float64
		for _, r := range result.Jobs {
			delays += r.Delay
		}
		for _, o := range s.Outages {
			down += max(0, min(o.To, end)-o.From)
		}
		up := end*float64(len(s.Speeds)) - down
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"end", line.end, end},
			{"busy", sum(line.busy), (result.Utilization + result.Wasted) * up},
			{"present", sum(line.present), delays},
			{"down", sum(line.down), down},
		} {
			if math.Abs(c.got-c.want) > 1e-9*(end+c.want) { // rounding of a few hundred sums
				t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
			}
		}
		if line.columns > mostColumns || len(line.busy) != line.columns || decided == 0 || line.nPresent != 0 ||
			line.nBusy != 0 || line.nWaiting != 0 {
			t.Errorf("%d columns, %d decisions, left are %d jobs, %d workers busy, %d tasks",
				line.columns, decided, line.nPresent, line.nBusy, line.nWaiting)
		}
		for w, row := range line.rows {
			if len(row) != line.columns {
				t.Errorf("worker %d has %d columns, want %d", w, len(row), line.columns)
			}
		}
	})
}

// The rows of workers match naive bookkeeping from the events: the seconds of each worker on each
// job in each column.
func TestTimelineLetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		type segment struct {
			worker, what int
			from, to     float64
		}
		var segments []segment
		doing := make([]segment, len(s.Speeds))
		change := func(w, what int, now float64) {
			if doing[w].what != 0 {
				doing[w].to = now
				segments = append(segments, doing[w])
			}
			doing[w] = segment{w, what, now, 0}
		}
		s.Watch = func(d *dispatch.Decision) {
			for _, e := range d.Events {
				switch e.Kind {
				case dispatch.Started:
					change(e.Worker, e.Job+1, d.Time) // 0 is idle, -1 is down
				case dispatch.Finished, dispatch.Lost, dispatch.Preempted, dispatch.Returned:
					change(e.Worker, 0, d.Time)
				case dispatch.Failed:
					change(e.Worker, -1, d.Time)
				}
			}
		}
		result, err := dispatch.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		line, err := New(t.Context(), s, result, nil, func(*dispatch.Decision) {})
		if err != nil {
			t.Fatal(err)
		}
		for w := range doing {
			change(w, 0, line.end)
		}
		for w, row := range line.rows {
			for c, got := range row {
				seconds := make([]float64, len(s.Jobs)+1) // job 0 is none; time is 0, the worker is down
				for _, g := range segments {
					if g.worker == w {
						seconds[max(g.what, 0)] += max(
							0, min(g.to, float64(c+1)*line.width)-max(g.from, float64(c)*line.width),
						)
					}
				}
				// Ignore rounding errors and accept ties up to rounding.
				rounding := 1e-9 * line.width
				letters, most := "", slices.Max(seconds)
				if most < 2*rounding {
					letters = "."
				}
				for what, v := range seconds {
					switch {
					case v < max(rounding/2, most-rounding):
					case what == 0:
						letters += "x"
					default:
						letters += jobLetters[what-1 : what]
					}
				}
				if !strings.ContainsRune(letters, rune(got)) {
					t.Errorf("worker %d, column %d: %c, want one of %s: %v", w, c, got, letters, seconds)
				}
			}
		}
	})
}
