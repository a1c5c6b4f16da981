package rigid_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

// A planner that receives jobs one by one, with reused numbers, starts them at the times of Run, to
// the last digit.
func TestPlannerMatchesRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		unit := rapid.SampledFrom([]float64{1, 0.1, 1.0 / 3}).Draw(t, "unit")
		for i := range s.Jobs {
			j := &s.Jobs[i]
			j.Submit, j.Work, j.Estimate = unit*j.Submit, unit*j.Work, unit*max(j.Work, j.Estimate)
		}
		p, err := rigid.NewPlanner(s.Policy, s.Workers)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(s.Jobs, func(a, b dispatch.Job) int { return cmp.Compare(a.Submit, b.Submit) })
		want := mustRun(t, s)
		var free, jobOf []int         // unused numbers; jobs by number
		ends := make(map[int]float64) // by number
		for next := 0; next < len(s.Jobs) || len(ends) > 0; {
			first := math.Inf(1)
			for _, end := range ends {
				first = min(first, end)
			}
			if next < len(s.Jobs) {
				first = min(first, s.Jobs[next].Submit)
			}
			now := first
			var due []int
			for number, end := range ends {
				if end <= rigid.LastOf(first) {
					now, due = max(now, end), append(due, number)
				}
			}
			slices.Sort(due)
			from := next
			for ; next < len(s.Jobs) && s.Jobs[next].Submit <= rigid.LastOf(first); next++ {
				now = max(now, s.Jobs[next].Submit)
			}
			p.Reach(now, due)
			for _, number := range due {
				delete(ends, number)
				free = append(free, number)
			}
			for k := from; k < next; k++ {
				if len(free) == 0 {
					free, jobOf = append(free, len(jobOf)), append(jobOf, 0)
				}
				number := free[len(free)-1]
				free, jobOf[number] = free[:len(free)-1], k
				j := s.Jobs[k]
				p.Submit(number, j.Tasks, cmp.Or(j.Estimate, j.Work))
			}
			for _, number := range p.Decide() {
				k := jobOf[number]
				if now != want.Jobs[k].Start {
					t.Fatalf("job %d starts at %v, want %v", k, now, want.Jobs[k].Start)
				}
				ends[number] = now + s.Jobs[k].Work
			}
		}
		if p.TakeWork() <= 0 || p.TakeWork() != 0 {
			t.Fatal("no work was counted, or it was counted twice")
		}
	})
}

func TestPlannerRejects(t *testing.T) {
	for _, c := range []struct {
		policy  rigid.Policy
		workers int
		want    string
	}{
		{rigid.Policies()[2], 0, "Workers = 0: want an integer >= 1"},
		{rigid.Policy{Order: "lifo", Backfill: rigid.None}, 2, "Policy.Order = lifo: want fcfs or sjf"},
	} {
		if _, err := rigid.NewPlanner(c.policy, c.workers); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
