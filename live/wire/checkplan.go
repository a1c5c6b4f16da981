package wire

import (
	"cmp"
	"slices"

	"productform/dispatch"
	"productform/internal/input"
)

// Check checks the form of a plan. Folding the plan checks whether it continues the plans before
// it.
func (p *Plan) Check() error {
	switch {
	case p.Version < 1 || p.Version > Version:
		return checkVersion(p.Version)
	case p.Number < 1 || !isSequence(p.Number):
		return input.Errorf("n", p.Number, "the number of a plan, from 1")
	case !input.IsTime(p.At):
		return input.Time.Check("at", p.At)
	case !input.IsTime(p.Epoch):
		return input.Time.Check("epoch", p.Epoch)
	case !isSequence(p.Upto):
		return input.Errorf("upto", p.Upto, "a sequence")
	case !isToken(p.Leader):
		return CheckName("leader", p.Leader)
	}
	if p.Script != nil {
		if err := p.Script.Check(); err != nil {
			return input.Inside("script", err)
		}
	}
	begun := 0
	for i := range p.Events {
		if err := checkEvent(&p.Events[i]); err != nil {
			return input.Inside(input.Index("events", i), err)
		}
		if p.Events[i].Kind == dispatch.Started {
			begun++
		}
	}
	if len(p.Tokens) != begun {
		return input.Errorf("tokens", len(p.Tokens), "%d tokens, one per task that starts", begun)
	}
	if i := slices.IndexFunc(p.Tokens, func(t string) bool { return !isToken(t) }); i >= 0 {
		return input.Errorf(input.Index("tokens", i), input.Quote(p.Tokens[i]), wantToken)
	}
	for i := range p.What {
		if err := checkHappening(&p.What[i]); err != nil {
			return input.Inside(input.Index("what", i), err)
		}
	}
	return cmp.Or(p.checkNew(), p.checkRest())
}

// checkHappening checks the form of a happening.
func checkHappening(h *dispatch.Happening) error {
	switch {
	case h.Kind == "" || len(h.Kind) > maxName:
		return input.Errorf("kind", input.Quote(string(h.Kind)), "a kind of happening")
	case !isNumber(h.Job):
		return input.Errorf("job", h.Job, wantNumber)
	case !isNumber(h.Worker):
		return input.Errorf("worker", h.Worker, wantNumber)
	case !isTask(h.Task):
		return input.Errorf("task", h.Task, "%s", wantTask)
	case h.Attempt < 0 || int64(h.Attempt) > largeInt:
		return input.Errorf("attempt", h.Attempt, wantAttempt)
	}
	err := cmp.Or(input.Time.Check("work", h.Work), input.Time.Check("seconds", h.Seconds))
	if err == nil && h.Speed != 0 {
		err = input.Speed.Check("speed", h.Speed)
	}
	return err
}

// checkEvent checks the form of an event; -1 marks a field that does not apply.
func checkEvent(e *dispatch.Event) error {
	switch {
	case e.Kind == "" || len(e.Kind) > maxName:
		return input.Errorf("kind", input.Quote(string(e.Kind)), "a kind of event")
	case e.Job != -1 && !isNumber(e.Job):
		return input.Errorf("job", e.Job, wantNumber)
	case e.Worker != -1 && !isNumber(e.Worker):
		return input.Errorf("worker", e.Worker, wantNumber)
	case e.Task != -1 && !isTask(e.Task):
		return input.Errorf("task", e.Task, "%s", wantTask)
	case e.Attempt < -1 || int64(e.Attempt) > largeInt:
		return input.Errorf("attempt", e.Attempt, wantAttempt)
	}
	return nil
}

// checkNew checks the jobs and workers that get numbers.
func (p *Plan) checkNew() error {
	for i := range p.NewJobs {
		n := &p.NewJobs[i]
		err := cmp.Or(
			checkNumber("number", n.Number), CheckName("batch", n.Batch),
			input.Time.Check("submit", n.Submit), input.Time.Check("deadline", n.Deadline))
		if err == nil {
			if err = n.Job.Check(); err != nil {
				err = input.Inside("job", err)
			}
		}
		if err != nil {
			return input.Inside(input.Index("jobs", i), err)
		}
	}
	for i := range p.NewWorkers {
		n := &p.NewWorkers[i]
		err := cmp.Or(
			checkNumber("number", n.Number), CheckName("name", n.Name),
			checkMaybe("process", n.Process),
			input.Speed.Check("speed", n.Speed))
		if err != nil {
			return input.Inside(input.Index("workers", i), err)
		}
	}
	return nil
}

// checkRepair checks the fields about a damaged store.
func (p *Plan) checkRepair() error {
	if t := p.Term; t != nil {
		if err := cmp.Or(must(isToken(t.ID), "id", t.ID, wantToken), must(isToken(t.Key), "key", "(a secret)",
			wantToken),
			checkSequence("from", t.From)); err != nil {
			return input.Inside("term", err)
		}
	}
	for i := range p.Adopted {
		a := &p.Adopted[i]
		err := cmp.Or(checkNumber("job", a.Job), checkTask(a.Task),
			checkSequence("sequence", a.Sequence), input.Time.Check("seconds", a.Seconds))
		if err != nil {
			return input.Inside(input.Index("adopted", i), err)
		}
	}
	for i := range p.Missing {
		m := &p.Missing[i]
		if err := cmp.Or(checkNumber("job", m.Job), must(m.Results >= 0, "results", m.Results,
			"an integer >= 0")); err != nil {
			return input.Inside(input.Index("missing", i), err)
		}
	}
	return must(isSequence(p.Gone), "gone", p.Gone, "a number of messages")
}

// checkRest checks the lists of cleared numbers, refusals and removals.
func (p *Plan) checkRest() error {
	if err := p.checkRepair(); err != nil {
		return err
	}
	for i, n := range p.Cleared {
		if !isNumber(n) {
			return input.Errorf(input.Index("cleared", i), n, wantNumber)
		}
	}
	for i := range p.Refused {
		r := &p.Refused[i]
		err := cmp.Or(
			checkSequence("sequence", r.Sequence), must(isText(r.Why), "why", r.Why, wantText),
			checkMaybe("batch", r.Batch),
			checkMaybe("worker", r.Worker))
		if err != nil {
			return input.Inside(input.Index("refused", i), err)
		}
	}
	for i := range p.Removed {
		r := &p.Removed[i]
		err := cmp.Or(
			checkSequence("sequence", r.Sequence),
			checkMaybe("job", r.Job),
			checkMaybe("batch", r.Batch))
		if err != nil {
			return input.Inside(input.Index("removed", i), err)
		}
	}
	return nil
}

// Check checks a view of a job.
func (v *JobView) Check() error {
	return cmp.Or(checkVersion(v.Version), CheckName("name", v.Name), CheckName("batch", v.Batch))
}

// Check checks a view of a worker.
func (v *WorkerView) Check() error {
	return cmp.Or(checkVersion(v.Version), CheckName("name", v.Name), checkFacts(v.Facts))
}

// Check checks a view of measured speeds.
func (v *ProfileView) Check() error {
	err := cmp.Or(checkVersion(v.Version),
		must(len(v.Kind) <= 2*maxName+1 && isText(v.Kind), "kind", v.Kind, "a kind of task"),
		must(len(v.Workers) <= MaxWorkers, "workers", len(v.Workers), "at most 1000 workers"))
	for i := 0; i < len(v.Workers) && err == nil; i++ {
		w, path := &v.Workers[i], input.Index("workers", i)
		err = cmp.Or(CheckName(path+".name", w.Name), input.Speed.Check(path+".speed", w.Speed),
			input.Speed.Check(path+".declared", w.Declared),
			checkNumber(path+".tasks", w.Tasks),
			input.Time.Check(path+".seconds", w.Seconds))
	}
	return err
}

// Check checks a view of a batch.
func (v *BatchView) Check() error {
	return cmp.Or(checkVersion(v.Version), CheckName("name", v.Name), checkSequence("sequence", v.Sequence))
}

// Check checks a view of the whole cluster.
func (v *ClusterView) Check() error { return checkVersion(v.Version) }
