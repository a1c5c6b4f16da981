package book

import (
	"productform/dispatch"
	"productform/live/wire"
)

// decide has the maker decide a moment, by the plan of the policy service if there is one. What came of that goes into the plan.
func (b *Book) decide(p *wire.Plan, what []dispatch.Happening) ([]dispatch.Event, error) {
	m, ok := b.maker.(*dispatch.Maker)
	if !ok || b.settings.Ask == nil {
		return b.maker.Decide(p.At, what)
	}
	return m.DecideBy(p.At, what, func(q *dispatch.Question) []int {
		p.Advice = b.ask(p, q)
		return advised(p)
	})
}

// decideAgain decides a moment as it was decided; a policy service is not asked again.
func (b *Book) decideAgain(p *wire.Plan, what []dispatch.Happening) ([]dispatch.Event, error) {
	if m, ok := b.maker.(*dispatch.Maker); ok {
		return m.DecideBy(p.At, what, func(*dispatch.Question) []int { return advised(p) })
	}
	return b.maker.Decide(p.At, what)
}

// advised returns the jobs that a policy service planned, nil if it did not.
func advised(p *wire.Plan) []int {
	if p.Advice == nil {
		return nil
	}
	return p.Advice.Jobs
}

// ask asks the policy service; nil if it was not asked.
func (b *Book) ask(p *wire.Plan, q *dispatch.Question) *wire.Advice {
	a := &wire.Advice{Service: b.settings.Service, Failed: wire.AdviceTooLarge}
	if len(q.Jobs) > wire.MostListed {
		return a
	}
	answer, why := b.settings.Ask(b.question(p, q))
	switch {
	case answer == nil && why == "":
		return nil
	case answer == nil:
		a.Failed = why
		return a
	}
	plan := b.numbered(answer)
	if q.Check(plan) != nil {
		a.Failed = wire.AdviceImpossible
		return a
	}
	a.Jobs, a.Failed = plan, ""
	return a
}

// question tells the policy service names in place of numbers, and what beats say of the workers.
func (b *Book) question(p *wire.Plan, q *dispatch.Question) *wire.Question {
	w := &wire.Question{
		Version: wire.Version, Plan: p.Number, Epoch: b.epoch,
		Assignment: wire.Assignment{Policy: b.rules.name(), Now: q.At, Jobs: []wire.AskedJob{}, Speeds: q.Speeds},
	}
	for k, n := range q.Jobs {
		j, r := b.jobs[n], &q.Requests[k]
		w.Jobs = append(w.Jobs, wire.AskedJob{
			Name: j.Job.Name, Priority: r.Priority, Deadline: r.Deadline, Tasks: r.Tasks, Work: r.Work, MaxWorkers: r.MaxWorkers,
			Kind: j.Job.Run.Profile(), Submit: j.Submit,
		})
		if r.Speeds != nil { // jobs have none of their own: these were learnt
			if w.Profiles == nil {
				w.Profiles = map[string][]float64{}
			}
			w.Profiles[j.Job.Run.Profile()] = r.Speeds
		}
	}
	hands := map[int]int{}
	for _, n := range q.Workers {
		a := wire.AskedWorker{Name: b.workers[n].Name}
		if beat := b.beats[a.Name]; beat != nil {
			a.Load, a.Memory, a.Disk, a.Facts = beat.Load, beat.Memory, beat.Disk, beat.Facts
		}
		if job, _, attempt, since := b.maker.Hand(n); attempt > 0 {
			a.Job, a.Since = b.jobs[job].Job.Name, since
			hands[job]++
		}
		w.About = append(w.About, a)
	}
	for k, n := range q.Jobs {
		w.Jobs[k].Hand = hands[n]
	}
	return w
}

// numbered returns the plan of an answer; a name that no job has becomes a number that none has.
func (b *Book) numbered(a *wire.Answer) []int {
	plan := make([]int, len(a.Workers))
	for k, name := range a.Workers {
		plan[k] = -1
		if name == nil {
			continue
		}
		n, known := b.numbers[*name]
		if !known {
			n = len(b.jobs)
		}
		plan[k] = n
	}
	return plan
}

// countAdvice counts what came of asking.
func (b *Book) countAdvice(a *wire.Advice) {
	if a == nil {
		return
	}
	c := &b.counts
	switch a.Failed {
	case "":
		c.Advised++
	case wire.AdviceAbsent:
		c.AdviceAbsent++
	case wire.AdviceLate:
		c.AdviceLate++
	case wire.AdviceImpossible:
		c.AdviceImpossible++
	case wire.AdviceTooLarge:
		c.AdviceTooLarge++
	default:
		c.AdviceMalformed++
	}
}
