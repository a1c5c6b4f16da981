package book

import (
	"maps"
	"slices"

	"productform/live/wire"
)

// Changes returns the names of everything whose view has changed since the last call.
func (b *Book) Changes() Changes {
	c := b.touched
	b.touched = newChanges()
	return c
}

// Jobs returns all jobs that are not cleared, sorted by number.
func (b *Book) Jobs() (views []wire.JobView) {
	for _, j := range b.jobs {
		if j != nil {
			views = append(views, b.jobView(j))
		}
	}
	return views
}

// Latest returns the unfinished jobs, and at most the given number of others, those that ended
// last.
func (b *Book) Latest(most int) (views []wire.JobView) {
	for _, j := range b.jobs {
		if j != nil && !j.isDone() {
			views = append(views, b.jobView(j))
		}
	}
	for _, n := range b.done[max(0, len(b.done)-most):] {
		views = append(views, b.jobView(b.jobs[n]))
	}
	return views
}

// Job returns the job with the given name. For a cleared job only the name and the state are known.
func (b *Book) Job(name string) (wire.JobView, bool) {
	if n, ok := b.numbers[name]; ok {
		return b.jobView(b.jobs[n]), true
	}
	return wire.JobView{Version: wire.Version, Name: name, State: wire.JobCleared}, b.cleared[name]
}

func (b *Book) jobView(j *job) wire.JobView {
	v := wire.JobView{
		Version: wire.Version, Name: j.Job.Name, Batch: j.Batch, State: j.State, Kind: j.Job.Run.Kind,
		Tasks: j.Job.Tasks, Left: j.Left,
		Failed: j.Failed, Lost: j.Lost, Missing: j.Missing, Hand: j.Hand, MaxWorkers: j.Job.MaxWorkers,
		Priority: j.Job.Priority, Epoch: b.epoch, Submit: j.Submit, Start: j.Start, Finish: j.Finish,
	}
	if j.Deadline > 0 {
		v.Deadline = &j.Deadline
	}
	if p, err := b.maker.Progress(j.Number); err == nil {
		v.Planned = p.Planned
	}
	return v
}

// Workers returns all workers, sorted by number.
func (b *Book) Workers() (views []wire.WorkerView) {
	for n := range b.workers {
		views = append(views, b.workerView(n))
	}
	return views
}

// Worker returns the worker with the given name.
func (b *Book) Worker(name string) (wire.WorkerView, bool) {
	n, ok := b.places[name]
	if !ok {
		return wire.WorkerView{}, false
	}
	return b.workerView(n), true
}

func (b *Book) workerView(n int) wire.WorkerView {
	w := &b.workers[n]
	v := wire.WorkerView{
		Version: wire.Version, Name: w.Name, Number: n, Process: w.Process, Speed: w.Speed,
		Epoch: b.epoch, Since: w.Since,
		Finished: w.Tasks, Lost: w.Lost, State: wire.WorkerDown,
	}
	beat := b.beats[w.Name]
	if beat != nil {
		v.Process, v.Program, v.Load, v.Memory, v.Disk, v.Facts = beat.Process, beat.Program, beat.Load,
			beat.Memory, beat.Disk, beat.Facts
	}
	_, task, number, since := b.maker.Hand(n)
	a := b.attempts[number]
	if a != nil {
		v.Job, v.Task, v.Attempt, v.Since = b.jobs[a.Job].Job.Name, task, number, since
	}
	switch {
	case w.Left && a != nil:
		v.State = wire.WorkerDraining
	case w.Left:
		v.State = wire.WorkerGone
	case w.Up && a == nil:
		v.State = wire.WorkerAvailable
	case w.Up && beat != nil && beat.Token == a.Token && beat.Running:
		v.State = wire.WorkerBusy
	case w.Up:
		v.State = wire.WorkerOccupied
	}
	return v
}

// Batches returns the outcomes of the batches that are not cleared, sorted by name.
func (b *Book) Batches() (views []wire.BatchView) {
	for _, name := range slices.Sorted(maps.Keys(b.batches)) {
		v, _ := b.Batch(name)
		views = append(views, v)
	}
	return views
}

// Batch returns the outcome of a batch.
func (b *Book) Batch(name string) (wire.BatchView, bool) {
	a := b.batches[name]
	if a == nil {
		return wire.BatchView{}, false
	}
	return wire.BatchView{
		Version:  wire.Version,
		Name:     name,
		Jobs:     slices.Clone(a.Jobs),
		Refused:  a.Refused,
		Sequence: a.Sequence,
	}, true
}

// Cluster returns a summary of the cluster.
func (b *Book) Cluster() wire.ClusterView {
	return wire.ClusterView{
		Version: wire.Version, Leader: b.leader, Plan: b.number, Upto: b.upto, Epoch: b.epoch,
		At: b.at, Policy: b.rules.name(),
		Counts: b.counts,
	}
}
