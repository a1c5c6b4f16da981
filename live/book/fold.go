package book

import (
	"fmt"
	"slices"

	"productform/dispatch"
	"productform/internal/input"
	"productform/live/wire"
)

// Fold applies the next plan, made by any manager and policy, after those already folded. After an
// error, which describes the mismatch, the caller must discard the book.
func (b *Book) Fold(p *wire.Plan) error {
	return b.fold(p, func(what []dispatch.Happening) error { return b.maker.Apply(p.At, what, p.Events) })
}

// An OutdatedError reports that an earlier version made a plan or a snapshot with a feature that
// this version lacks. Ignoring the feature would misread it.
type OutdatedError struct{ Used string } // human-readable description of the feature

func (e *OutdatedError) Error() string {
	return "made with " + e.Used + ", which this version does not have: finish the jobs of this store " +
		"with the version that made it, then start with an empty store"
}

// fold applies a plan; apply passes its happenings and events to the maker.
func (b *Book) fold(p *wire.Plan, apply func(what []dispatch.Happening) error) error {
	switch used := p.Outdated(); {
	case used != "":
		return &OutdatedError{used}
	case p.Number != b.number+1:
		return input.Errorf("n", p.Number, "%d, the number of the next plan", b.number+1)
	case !(p.At >= b.at):
		return input.Errorf("at", p.At, "a time >= %v, the time of the previous plan", b.at)
	case p.Number == 1 && p.Rules == nil:
		return input.Errorf("rules", "", "the rules in the first plan")
	}
	if err := b.setUp(p); err != nil {
		return err
	}
	for i := range p.NewWorkers {
		if err := b.registerWorker(&p.NewWorkers[i]); err != nil {
			return err
		}
	}
	for i := range p.NewJobs {
		if err := b.enter(&p.NewJobs[i]); err != nil {
			return err
		}
	}
	if decides(p) {
		what, err := b.fillJobs(p.What)
		if err != nil {
			return err
		}
		if err := apply(what); err != nil {
			return err
		}
	}
	b.heard = p.Upto // may be lower than before; see Rewind
	return b.note(p)
}

// decides reports whether the plan contains a decision of the maker.
func decides(p *wire.Plan) bool { return len(p.What) > 0 || p.Replan }

// setUp applies the rules and the script of a plan.
func (b *Book) setUp(p *wire.Plan) (err error) {
	if p.Number == 1 {
		b.epoch = p.Epoch
	}
	var speeds []float64
	if p.Script != nil {
		if p.Number != 1 {
			return input.Errorf("script", p.Number, "a script in the first plan only")
		}
		b.script, b.outages = p.Script, scriptEdges(p.Script)
		for i, w := range p.Script.Workers {
			speeds = append(speeds, w.Speed)
			b.places[w.Name] = i
			b.workers = append(b.workers, worker{Name: w.Name, Speed: w.Speed, Up: true})
		}
	}
	switch {
	case p.Rules == nil:
	case b.maker == nil:
		b.rules = rules{*p.Rules, p.Rigid}
		b.maker, err = newMaker(b.rules, speeds)
	default:
		b.rules = rules{*p.Rules, p.Rigid}
		b.maker, err = changeRules(b.maker, b.rules)
	}
	return err
}

// registerWorker gives a worker its number, or records its new process.
func (b *Book) registerWorker(n *wire.NumberedWorker) error {
	switch {
	case n.Number < 0 || n.Number > len(b.workers) || n.Number >= wire.MaxWorkers:
		return input.Errorf("workers", n.Number, "the number of a worker, 0 to %d", len(b.workers))
	case n.Number == len(b.workers):
		b.workers = append(b.workers, worker{})
	}
	w := &b.workers[n.Number]
	if w.Name != n.Name {
		if _, ok := b.places[n.Name]; ok {
			return input.Errorf("workers", n.Name, "a name that no other worker has")
		}
		delete(b.places, w.Name)
		delete(b.beats, w.Name)
		delete(b.staleBeats, w.Name)
		if w.Name != "" {
			b.touched.Workers[w.Name] = true
		}
		*w = worker{Name: n.Name}
		b.places[n.Name] = n.Number
	} else {
		w.Former = append(slices.DeleteFunc(w.Former, func(p string) bool { return p == n.Process }), w.Process)
		w.Former = w.Former[max(0, len(w.Former)-maxFormer):]
	}
	w.Process, w.Speed, w.Left = n.Process, n.Speed, n.Process == w.Drained
	b.touched.Workers[n.Name] = true
	return nil
}

// enter gives a job its number.
func (b *Book) enter(n *wire.NumberedJob) error {
	if n.Number < 0 || n.Number > len(b.jobs) || n.Number < len(b.jobs) && b.jobs[n.Number] != nil {
		return input.Errorf("jobs", n.Number, "a free number, at most %d", len(b.jobs))
	}
	if _, ok := b.numbers[n.Job.Name]; ok || b.cleared[n.Job.Name] {
		return input.Errorf("jobs", n.Job.Name, "a name that no other job has or had")
	}
	if n.Number == len(b.jobs) {
		b.jobs = append(b.jobs, nil)
	}
	b.jobs[n.Number] = &job{
		NumberedJob: *n, State: wire.JobPresent, Left: n.Job.Tasks, Ended: makeBits(n.Job.Tasks),
		taken: map[int][]int{},
	}
	b.numbers[n.Job.Name] = n.Number
	b.tasks += n.Job.Tasks
	b.counts.Jobs++
	b.counts.Tasks += n.Job.Tasks
	a := b.batches[n.Batch]
	if a == nil || a.Refused != "" {
		a = &batch{}
		b.batches[n.Batch] = a
	}
	a.Jobs = append(a.Jobs, n.Job.Name)
	a.Left++
	b.touched.Jobs[n.Job.Name], b.touched.Batches[n.Batch] = true, true
	return nil
}

// fillJobs returns the happenings for the maker, completed with the submitted jobs.
func (b *Book) fillJobs(what []dispatch.Happening) ([]dispatch.Happening, error) {
	if !slices.ContainsFunc(what, func(h dispatch.Happening) bool { return h.Kind == dispatch.Submitted }) {
		return what, nil
	}
	what = slices.Clone(what)
	for i := range what {
		h := &what[i]
		if h.Kind != dispatch.Submitted {
			continue
		}
		j := b.job(h.Job)
		if j == nil {
			return nil, input.Errorf(input.Index("what", i), h.Job, "the number of a job")
		}
		h.What = &dispatch.Job{
			Submit: j.Submit, Deadline: j.Deadline, Priority: j.Job.Priority, MaxWorkers: j.Job.MaxWorkers,
			Tasks: j.Job.Tasks, Work: j.Job.Work, Works: j.Job.Works, Estimate: j.Job.Estimate,
			Kind: j.Job.Run.Profile(),
		}
	}
	return what, nil
}

// job returns the job with the given number, or nil if there is none.
func (b *Book) job(number int) *job {
	if number < 0 || number >= len(b.jobs) {
		return nil
	}
	return b.jobs[number]
}

// note records the parts of a plan that the maker does not handle.
func (b *Book) note(p *wire.Plan) error {
	tokens, changed := p.Tokens, map[int]bool{}
	for i := range p.Events {
		e := &p.Events[i]
		token := ""
		if e.Kind == dispatch.Changed {
			changed[e.Job] = true
		}
		if e.Kind == dispatch.Started {
			if len(tokens) == 0 {
				return input.Errorf("tokens", len(p.Tokens), "one token per task that starts")
			}
			token, tokens = tokens[0], tokens[1:]
		}
		if err := b.applyEvent(p.At, e, token); err != nil {
			return fmt.Errorf("events[%d]: %w", i, err)
		}
	}
	for i := range p.What {
		h := &p.What[i]
		if j := b.job(h.Job); h.Kind == dispatch.Changed && h.What != nil && j != nil && changed[h.Job] {
			j.Job.Priority, j.Deadline = h.What.Priority, h.What.Deadline
		}
		if b.script != nil && (h.Kind == dispatch.Failed || h.Kind == dispatch.Returned) {
			b.edges++
		}
	}
	b.learn(p)
	for _, n := range p.Cleared {
		if err := b.clear(n); err != nil {
			return err
		}
	}
	for i := range p.Refused {
		b.refuse(&p.Refused[i])
	}
	if len(p.Removed) > 0 {
		b.removals = slices.DeleteFunc(b.removals, func(r wire.Removal) bool { return slices.Contains(p.Removed, r) })
	}
	if decides(p) {
		b.decided = p.At
	}
	if err := b.repair(p); err != nil {
		return err
	}
	b.number, b.at, b.upto, b.leader = p.Number, p.At, p.Upto, p.Leader
	b.heard = max(b.heard, b.upto)
	return nil
}

// clear forgets a job except its name.
func (b *Book) clear(number int) error {
	j := b.job(number)
	if j == nil || !j.isDone() {
		return input.Errorf("cleared", number, "a job that is done")
	}
	if err := b.maker.Forget(number); err != nil {
		return err
	}
	name := j.Job.Name
	b.jobs[number] = nil
	b.lowest = min(b.lowest, number)
	if k := slices.Index(b.done, number); k >= 0 {
		b.done = slices.Delete(b.done, k, k+1)
	}
	delete(b.numbers, name)
	b.cleared[name] = true
	b.tasks -= j.Job.Tasks
	b.counts.Cleared++
	b.removals = append(b.removals, wire.Removal{Job: name})
	b.touched.Jobs[name] = true
	if a := b.batches[j.Batch]; a != nil {
		if a.Left--; a.Left == 0 {
			delete(b.batches, j.Batch)
			b.removals = append(b.removals, wire.Removal{Batch: j.Batch})
			b.touched.Batches[j.Batch] = true
		}
	}
	return nil
}

// refuse records a refusal.
func (b *Book) refuse(r *wire.Refusal) {
	b.counts.Refused++
	if r.Remove {
		b.removals = append(b.removals, wire.Removal{Sequence: r.Sequence, Aside: r.Aside})
	}
	if r.Aside {
		b.counts.Aside++
	}
	if a := b.batches[r.Batch]; r.Batch == "" || a != nil && a.Refused == "" {
		return
	}
	if b.batches[r.Batch] == nil {
		b.refused = append(b.refused, r.Batch)
	}
	b.batches[r.Batch] = &batch{Refused: r.Why, Sequence: r.Sequence}
	b.touched.Batches[r.Batch] = true
	if len(b.refused) > maxRefused {
		if old := b.refused[0]; b.batches[old] != nil && b.batches[old].Refused != "" {
			delete(b.batches, old)
			b.touched.Batches[old] = true
		}
		b.refused = b.refused[1:]
	}
}
