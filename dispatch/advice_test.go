package dispatch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

// numbered returns the plan that has numbers of jobs in place of their places.
func numbered(q *dispatch.Question, assigned []int) []int {
	if assigned == nil {
		return nil
	}
	plan := []int{}
	for _, k := range assigned {
		if k >= 0 {
			k = q.Jobs[k]
		}
		plan = append(plan, k)
	}
	return plan
}

// Told what anybody plans, or that nobody does, the decision maker says what its naive twin says; one that follows plan and
// events is in its state at every moment.
func TestDecideByAgainstNaive(t *testing.T) {
	for _, rule := range dispatch.AllRules() {
		t.Run(fmt.Sprintf("rule=%s", rule), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
				var assigned []int // by the outside policy at this moment
				naive := &naiveMaker{rules: randomRules(rule, random.IntN), jobs: map[int]*naiveJob{}}
				naive.outside = func(jobs []dispatch.Request, speeds []float64) []int {
					assigned = randomPlan(jobs, len(speeds), random)
					return assigned
				}
				m, folded := mustMake(t, naive.rules, nil), mustMake(t, naive.rules, nil)
				at := 0.0
				for range 40 {
					at += []float64{0, 1, 1, 2, 0.3}[random.IntN(5)]
					what := naive.randomHappenings(at, random.IntN)
					assigned = nil
					want := naive.decide(at, what)
					var plan []int
					events, err := m.DecideBy(at, what, func(q *dispatch.Question) []int {
						plan = numbered(q, assigned)
						return plan
					})
					if err != nil || !slices.Equal(events, want) {
						t.Fatalf("%v by %v\n%v, want\n%v, error %v", at, assigned, events, want, err)
					}
					if err := folded.ApplyBy(at, what, plan, events); err != nil {
						t.Fatal(err)
					}
					sameState(t, "folded", folded, m)
					if err := naive.comparePlans(m.Result()); err != nil {
						t.Fatal(err)
					}
					m = reread(t, m)
				}
			})
		})
	}
}

// randomPlan draws a plan, sometimes none.
func randomPlan(jobs []dispatch.Request, workers int, random *rand.Rand) []int {
	if random.IntN(5) == 0 {
		return nil
	}
	left, plan := make([]int, len(jobs)), make([]int, workers)
	for j, r := range jobs {
		if left[j] = r.Tasks; r.MaxWorkers > 0 {
			left[j] = min(r.Tasks, r.MaxWorkers)
		}
	}
	for w := range plan {
		plan[w] = -1
		if j := random.IntN(len(jobs)+1) - 1; j >= 0 && left[j] > 0 {
			plan[w] = j
			left[j]--
		}
	}
	return plan
}

// A policy outside that is the policy itself decides as it does.
func TestDecideByTheSamePolicy(t *testing.T) {
	for _, rule := range []dispatch.Rule{dispatch.Priority, dispatch.Proportion, dispatch.Workload, dispatch.Deadline} {
		t.Run(string(rule), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 8))
				naive := &naiveMaker{rules: randomRules(rule, random.IntN), jobs: map[int]*naiveJob{}}
				m, asking := mustMake(t, naive.rules, nil), mustMake(t, naive.rules, nil)
				for at := range 30 {
					what := naive.randomHappenings(float64(at), random.IntN)
					naive.decide(float64(at), what)
					want, err := m.Decide(float64(at), what)
					if err != nil {
						t.Fatal(err)
					}
					events, err := asking.DecideBy(float64(at), what, func(q *dispatch.Question) []int {
						assigned, err := naive.rules.Policy.Assign(q.Requests, q.Speeds, q.At)
						if err != nil {
							t.Fatal(err)
						}
						return numbered(q, assigned)
					})
					if err != nil || !slices.Equal(events, want) {
						t.Fatalf("%v, want %v, error %v", events, want, err)
					}
					sameState(t, "asking", asking, m)
				}
			})
		})
	}
}

// What cannot be a plan is refused, and a moment without jobs or workers asks nobody.
func TestDecideByErrors(t *testing.T) {
	rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}
	submit := []dispatch.Happening{
		{Kind: dispatch.Submitted, Job: 0, What: &dispatch.Job{Tasks: 1, Work: 5}},
		{Kind: dispatch.Submitted, Job: 1, What: &dispatch.Job{Tasks: 5, Work: 5, MaxWorkers: 1}},
	}
	for _, c := range []struct {
		plan []int
		want badEntry
	}{
		{[]int{}, badEntry{"Plan", "0", "3 jobs, one a worker"}},
		{[]int{0, 1, 2}, badEntry{"Plan[2]", "2", "the number of a job that can use a worker, or -1"}},
		{[]int{0, -2, 1}, badEntry{"Plan[1]", "-2", "the number of a job that can use a worker, or -1"}},
		{[]int{0, -1, 0}, badEntry{"Plan[2]", "0", "a job that can use one more worker, or -1"}},
		{[]int{1, 1, 0}, badEntry{"Plan[1]", "1", "a job that can use one more worker, or -1"}},
	} {
		m := mustMake(t, rules, []float64{1, 1, 1})
		if _, err := m.DecideBy(1, submit, func(*dispatch.Question) []int { return c.plan }); !c.want.is(err) {
			t.Errorf("error %v, want %v", err, c.want)
		}
		m = mustMake(t, rules, []float64{1, 1, 1})
		if err := m.ApplyBy(1, submit, c.plan, []dispatch.Event{{Kind: dispatch.Submitted, Task: -1, Worker: -1}, {Kind: dispatch.Submitted, Job: 1, Task: -1, Worker: -1}}); !c.want.is(err) {
			t.Errorf("following: error %v, want %v", err, c.want)
		}
	}
	nobody := func(*dispatch.Question) []int { t.Error("asked"); return nil }
	for m, what := range map[*dispatch.Maker][]dispatch.Happening{
		mustMake(t, rules, nil): submit, mustMake(t, rules, []float64{1}): nil, mustMake(t, rules, []float64{2}): {{Kind: dispatch.Failed}},
	} {
		if _, err := m.DecideBy(1, what, nobody); err != nil {
			t.Error(err)
		}
	}
	if _, err := mustMake(t, rules, nil).DecideBy(-1, nil, nobody); !(badEntry{"At", "-1", "a time in [0, 1e50]"}).is(err) {
		t.Errorf("error %v", err)
	}
}
