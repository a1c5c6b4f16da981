package dispatch

import (
	"maps"
	"slices"

	"productform/dispatch/internal/intheap"
	"productform/internal/input"
)

// repeat makes a task wait again that has been run, behind all others of its job, for another worker.
func (m *Maker) repeat(h *Happening) {
	x := m.hand[h.Worker]
	if x.attempt != h.Attempt {
		return
	}
	m.release(Repeated, h.Worker)
	m.tasks[h.Job].refused.Add(h.Task)
	if m.bars == nil {
		m.bars = map[int]map[int]int{}
	}
	if m.bars[h.Job] == nil {
		m.bars[h.Job] = map[int]int{}
	}
	m.bars[h.Job][h.Task] = h.Worker
	m.totals.Wasted.Add(m.now - x.since)
}

// unbar forgets who may not begin a task of job j.
func (m *Maker) unbar(j, task int) {
	delete(m.bars[j], task)
	if len(m.bars[j]) == 0 {
		delete(m.bars, j)
	}
}

// may reports whether a task of job j waits that worker w may begin.
func (m *Maker) may(w, j int) bool {
	if t := &m.tasks[j]; m.bars[j] == nil {
		return len(t.lost)+len(t.refused) > 0 || t.next < m.jobs[j].Tasks
	}
	return m.firstFor(w, j) >= 0
}

// firstFor returns the first task of job j that waits and that worker w may begin, -1 if there is none: one that was lost, else one that
// never began, else one that was refused or is to be repeated.
func (m *Maker) firstFor(w, j int) int {
	t, bars := &m.tasks[j], m.bars[j]
	first := func(of intheap.Heap) int {
		task := -1
		for _, k := range of {
			if by, is := bars[k]; (task < 0 || k < task) && !(is && by == w) {
				task = k
			}
		}
		return task
	}
	if task := first(t.lost); task >= 0 {
		return task
	}
	if t.next < m.jobs[j].Tasks {
		return t.next
	}
	return first(t.refused)
}

// takeOut takes a task out of those that wait, and reports whether it was among them.
func (t *tasks) takeOut(task int) bool {
	if task == t.next {
		t.next++
		return true
	}
	return t.lost.TakeOut(task) || t.refused.TakeOut(task)
}

// exchange lets idle workers that may begin nothing of the job planned for them change places with others, so that no two wait for
// each other: the first idle one that may begin a task of this job, and for whose job the worker may do the same.
func (m *Maker) exchange() {
	plan := m.planner.plan.ByWorker()
	stuck := func(w int) bool { return plan[w] >= 0 && m.wants(plan[w]) && !m.may(w, plan[w]) }
	for _, at := range m.idle {
		w := m.workers[at]
		if !stuck(w) {
			continue
		}
		k := slices.IndexFunc(m.idle, func(at int) bool {
			v := m.workers[at]
			return plan[v] != plan[w] && m.may(v, plan[w]) && (plan[v] < 0 || m.may(w, plan[v]))
		})
		if k >= 0 {
			v := m.workers[m.idle[k]]
			plan[v], plan[w] = plan[w], plan[v]
		}
	}
}

// beginWhereMay is beginPlanned where workers may not begin each task.
func (m *Maker) beginWhereMay() {
	m.exchange()
	begins := func(at, j int) {
		if w := m.workers[at]; m.hand[w].job < 0 && m.wants(j) && m.may(w, j) {
			m.begin(w, j)
		}
	}
	if len(m.averse) == 0 {
		plan := m.planner.plan.ByWorker()
		for _, at := range m.idle {
			if j := plan[m.workers[at]]; j >= 0 {
				begins(at, j)
			}
		}
	}
	turns := m.turns(m.idle)
	for _, j := range m.planner.chosen {
		for k := 0; k < len(turns) && m.wants(j); k++ {
			begins(turns[k], j)
		}
	}
	m.idle = slices.DeleteFunc(m.idle, m.isBusy)
}

// restoreBars takes in which tasks are to be repeated: tasks that wait or are in hand.
func (m *Maker) restoreBars(s *JobState) error {
	t := &m.tasks[s.Number]
	for _, task := range slices.Sorted(maps.Keys(s.Barred)) {
		inHand := slices.ContainsFunc(m.hand, func(h hand) bool { return h.job == s.Number && h.task == task })
		if !inHand && !slices.Contains(t.lost, task) && !slices.Contains(t.refused, task) {
			return input.Errorf("Barred", task, "tasks that wait again, or are in hand")
		}
		if w := s.Barred[task]; w < 0 || w >= len(m.hand) {
			return input.Errorf("Barred", w, "a worker")
		}
	}
	if len(s.Barred) > 0 {
		if m.bars == nil {
			m.bars = map[int]map[int]int{}
		}
		m.bars[s.Number] = maps.Clone(s.Barred)
	}
	return nil
}
