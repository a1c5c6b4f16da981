package dispatch_test

import (
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

// Some workers immediately refuse every task; the others run it. An idle worker that can run a
// refused task gets it after all workers in between have refused it, so a job ends even if
// unsuitable workers come first in all lists.
func TestRefusedTasksReachTheFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unfit := rapid.IntRange(0, 6).Draw(t, "unfit")
		fit := rapid.IntRange(1, 4).Draw(t, "fit")
		tasks := rapid.IntRange(1, 12).Draw(t, "tasks")
		rule := rapid.SampledFrom(dispatch.AllRules()).Draw(t, "rule")
		speeds := make([]float64, unfit+fit)
		isFit := make([]bool, len(speeds))
		for k, w := range rapid.Permutation(indexes(len(speeds))).Draw(t, "order") {
			isFit[w] = k < fit
			speeds[w] = rapid.SampledFrom([]float64{1, 2}).Draw(t, "speed")
		}
		p := dispatch.Policy{Rule: rule}
		if rule == dispatch.Workload {
			p.Horizon = 1
		}
		m, err := dispatch.NewMaker(dispatch.Rules{Policy: p}, speeds)
		if err != nil {
			t.Fatal(err)
		}
		type hand struct {
			dispatch.Event
			until int
		}
		var hands []hand
		took := func(at int, what ...dispatch.Happening) (completed bool) {
			events, err := m.Decide(float64(at), what)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				switch e.Kind {
				case dispatch.Started:
					until := at + 1
					if isFit[e.Worker] {
						until = at + 10
					}
					hands = append(hands, hand{e, until})
				case dispatch.Completed:
					completed = true
				}
			}
			return completed
		}
		took(0, dispatch.Happening{Kind: dispatch.Submitted, What: &dispatch.Job{Tasks: tasks, Work: 10, Deadline: 1}})
		most := 10*tasks + (unfit+1)*(tasks+1)
		for at := 1; ; at++ {
			var what []dispatch.Happening
			var left []hand
			for _, h := range hands {
				switch {
				case h.until > at:
					left = append(left, h)
				case isFit[h.Worker]:
					what = append(what, dispatch.Happening{
						Kind:    dispatch.Finished,
						Worker:  h.Worker,
						Job:     h.Job,
						Task:    h.Task,
						Attempt: h.Attempt,
						Work:    10,
					})
				default:
					what = append(what, dispatch.Happening{
						Kind:    dispatch.Refused,
						Worker:  h.Worker,
						Job:     h.Job,
						Task:    h.Task,
						Attempt: h.Attempt,
					})
				}
			}
			hands = left
			if len(what) > 0 && took(at, what...) {
				return
			}
			if at > most {
				t.Fatalf("not done at %d, running %v", at, hands)
			}
		}
	})
}

func indexes(n int) (all []int) {
	for k := range n {
		all = append(all, k)
	}
	return all
}
