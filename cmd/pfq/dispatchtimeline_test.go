package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"productform/dispatch"
)

// Columns are of a round width and cover the time, no more of them than there may be and, since widths differ by a
// factor of at most 2.5, or 3 between 10 and 30 minutes and from 3 to 6 hours, not many fewer.
func TestColumnWidth(t *testing.T) {
	for end, want := range map[float64]float64{76: 1, 77: 2, 30: 0.5, 0.03: 0.0005, 190: 2.5, 380: 5, 760: 10, 1520: 20, 1521: 25, 2280: 50, 2281: 60,
		76 * 300: 300, 76 * 3600: 3600, 76 * 43200: 43200, 76 * 43201: 86400, 76 * 864000: 864000, 1e-50: 2e-52} {
		if got := columnWidth(end); got != want {
			t.Errorf("%v s: columns of %v, want %v", end, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		end := math.Pow(10, rapid.Float64Range(-100, 100).Draw(t, "log10 end"))
		columns := end / columnWidth(end)
		if columns*almost > mostColumns || columns < mostColumns/3 {
			t.Errorf("%v s in %v columns", end, columns)
		}
	})
}

// drawScenario draws jobs, workers that differ, and outages that end.
func drawScenario(t *rapid.T) dispatch.Scenario {
	s := dispatch.Scenario{Policy: dispatch.Policy{Rule: rapid.SampledFrom(dispatch.Rules()).Draw(t, "rule")}}
	s.Speeds = rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 3}), 1, 5).Draw(t, "speeds")
	for range rapid.IntRange(1, 8).Draw(t, "jobs") {
		s.Jobs = append(s.Jobs, dispatch.Job{Submit: rapid.Float64Range(0, 20).Draw(t, "submit"), Priority: rapid.Float64Range(1, 3).Draw(t, "priority"),
			Tasks: rapid.IntRange(1, 9).Draw(t, "tasks"), Work: rapid.SampledFrom([]float64{0, 1, 2.5, 7}).Draw(t, "work")})
	}
	s.Jobs[0].Submit, s.Jobs[0].Work = 0, 1
	if rapid.Bool().Draw(t, "emergency") {
		s.Emergency = 2
	}
	for w := range s.Speeds {
		from := rapid.Float64Range(0, 10).Draw(t, "from")
		s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: from, To: from + rapid.Float64Range(0.1, 9).Draw(t, "for")})
	}
	return s
}

// What the columns hold adds up to what the run tells: workers busy to the utilization and what is wasted, of the time of
// workers up; jobs present to the responses; workers down to the outages; tasks waiting to the time from submission less
// the time in hand, which is as long as workers are busy.
func TestTimelineAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		result, err := dispatch.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		decided := 0
		line, err := newTimeline(t.Context(), s, policyRun{result: result}, func(*dispatch.Decision) { decided++ })
		if err != nil {
			t.Fatal(err)
		}
		sum := func(list []float64) (sum float64) {
			for _, v := range list {
				sum += v
			}
			return sum
		}
		end := result.Makespan // the first job comes at 0
		var responses, down float64
		for _, r := range result.Jobs {
			responses += r.Delay
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
			{"present", sum(line.present), responses},
			{"down", sum(line.down), down},
		} {
			if math.Abs(c.got-c.want) > 1e-9*(end+c.want) { // rounding of some hundred sums
				t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
			}
		}
		if line.columns > mostColumns || len(line.busy) != line.columns || decided == 0 || line.nPresent != 0 || line.nBusy != 0 || line.nWaiting != 0 {
			t.Errorf("%d columns, %d decisions, left are %d jobs, %d workers busy, %d tasks", line.columns, decided, line.nPresent, line.nBusy, line.nWaiting)
		}
		for w, row := range line.rows {
			if len(row) != line.columns {
				t.Errorf("worker %d has %d columns of %d", w, len(row), line.columns)
			}
		}
	})
}

// The rows of workers are as those of naive bookkeeping: of each column the seconds of each worker at each job, from the
// events alone.
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
		line, err := newTimeline(t.Context(), s, policyRun{result: result}, func(*dispatch.Decision) {})
		if err != nil {
			t.Fatal(err)
		}
		for w := range doing {
			change(w, 0, line.end)
		}
		for w, row := range line.rows {
			for c, got := range row {
				seconds := make([]float64, len(s.Jobs)+1) // at 0, down
				for _, g := range segments {
					if g.worker == w {
						seconds[max(g.what, 0)] += max(0, min(g.to, float64(c+1)*line.width)-max(g.from, float64(c)*line.width))
					}
				}
				// What rounding makes or takes is of no account, nor is what is as long but for rounding.
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

// The timeline of a run whose workers go for good ends there: jobs that come later are not in it. Until 5 s there is one
// job, of 100 tasks, which has the one worker.
func TestTimelineStranded(t *testing.T) {
	const log = `1 0 -1 1 100 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
2 10 -1 1 1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
3 1000 -1 1 1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
4 2000 -1 1 3 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
`
	stdout, _, status := pfq(log, "dispatch", "-", "--workers", "1", "--policy", "edf", "--outages", "1@5-", "--timeline")
	bar := func(text string) string { return strings.Repeat(text, 50) } // 5 s in columns of 0.1 s
	for _, line := range []string{"workers busy         1  " + bar("█"), "workers down         1  " + bar("."), "jobs present         1  " + bar("█"),
		"worker 1                " + bar("A")} {
		if !strings.Contains(stdout, "\n"+line+"\n") || status != 1 {
			t.Errorf("status %d, no %q in %s", status, line, stdout)
		}
	}
}

// Whatever the speeds, times and numbers, no line of a timeline has more than 100 characters.
func TestTimelineFits(t *testing.T) {
	for _, args := range []string{
		"--workers 4 --heterogeneous 3x1.23456e-50,1e50 --outages 1@1-2",
		"--workers 40 --gap-scale 1e48", "--workers 4 --time-scale 1e-48 --gap-scale 1e-48", "--workers 4 --time-scale 7.7", "--workers 3 --gap-scale 2.53",
	} {
		log, _, _ := pfq("", "example", "five-jobs")
		stdout, stderr, status := pfq(log, append(strings.Fields("dispatch - --policy edf --timeline"), strings.Fields(args)...)...)
		_, drawn, _ := strings.Cut(stdout, "\n\ntimeline: ")
		drawn, _, _ = strings.Cut(drawn, "\n\nletter")
		if status != 0 || !strings.Contains(drawn, "worker 3") {
			t.Fatalf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
		for line := range strings.SplitSeq("timeline: "+drawn, "\n") {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s: %d characters: %s", args, n, line)
			}
		}
	}
}

// Above 40 workers there are bars only; above 50 jobs letters come again.
func TestTimelineManyWorkersManyJobs(t *testing.T) {
	stdout, _, status := pfq("", "dispatch", "SDSC-Par-1996", "--sample", "51", "--workers", "41", "--policy", "edf", "--timeline")
	if status != 0 || strings.Contains(stdout, "worker 1 ") || strings.Contains(stdout, "letter") || !strings.Contains(stdout, "\ntasks waiting ") {
		t.Errorf("status %d, %s", status, stdout)
	}
	stdout, _, status = pfq("", "dispatch", "SDSC-Par-1996", "--sample", "51", "--workers", "40", "--policy", "edf", "--timeline")
	if status != 0 || !strings.Contains(stdout, "worker 40 ") || strings.Contains(stdout, "letter  job") || !strings.Contains(stdout, "\nletters come again after 50 jobs, in order of submission\n") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// Each policy of a table has its timeline, the one that it has alone.
func TestTimelinesOfAllPolicies(t *testing.T) {
	log, _, _ := pfq("", "example", "five-jobs")
	all, _, status := pfq(log, "dispatch", "-", "--workers", "3", "--timeline")
	parts := strings.Split(all, "\ntimeline: ")
	if status != 0 || len(parts) != 7 {
		t.Fatalf("status %d, %d timelines in %s", status, len(parts)-1, all)
	}
	for k, policy := range []string{"priority", "proportion", "workload", "deadline", "deadline --spare deadline", "edf"} {
		one, _, _ := pfq(log, append(strings.Fields("dispatch - --workers 3 --timeline --policy"), strings.Fields(policy)...)...)
		title, _, _ := strings.Cut(one, "\n")
		_, want, _ := strings.Cut(one, "\ntimeline: ")
		if !strings.HasSuffix(parts[k], "\n\n"+title) || !strings.HasPrefix(parts[k+1]+"\n", want) {
			t.Errorf("%s: %q, then %s, want %s", policy, parts[k], parts[k+1], want)
		}
	}
}
