package dispatch

import (
	"container/heap"
	"maps"
	"slices"

	"productform/internal/input"
)

// repeat makes a task wait again that has been run, behind all others of its job, for another worker.
func (m *Maker) repeat(h *Happening) {
	x := m.hand[h.Worker]
	if x.attempt != h.Attempt {
		return
	}
	m.release(Repeated, h.Worker)
	t := &m.tasks[h.Job]
	heap.Push(&t.refused, h.Task)
	m.unbar(t, h.Task)
	if t.barred == nil {
		t.barred = map[int]int{}
	}
	t.barred[h.Task] = h.Worker
	m.barred++
	m.totals.Wasted.Add(m.now - x.since)
}

// unbar lets all workers begin a task.
func (m *Maker) unbar(t *tasks, task int) {
	if _, is := t.barred[task]; is {
		delete(t.barred, task)
		m.barred--
	}
}

// isFor reports whether a worker may begin a task.
func (t *tasks) isFor(w, task int) bool {
	other, is := t.barred[task]
	return !is || other != w
}

// may reports whether a task of job j waits that worker w may begin, if any waits.
func (m *Maker) may(w, j int) bool { return len(m.tasks[j].barred) == 0 || m.firstFor(w, j) >= 0 }

// firstFor returns the first task of job j that waits and that worker w may begin, -1 if there is none: one that was lost, else one that
// never began, else one that was refused or is to be repeated.
func (m *Maker) firstFor(w, j int) int {
	t := &m.tasks[j]
	first := func(of intHeap) int {
		task := -1
		for _, k := range of {
			if (task < 0 || k < task) && t.isFor(w, k) {
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
	return t.lost.takeOut(task) || t.refused.takeOut(task)
}

// exchange lets idle workers that may begin nothing of the job planned for them change places with others, so that no two wait for
// each other: the first idle one that may begin a task of this job, and for whose job the worker may do the same.
func (m *Maker) exchange() {
	plan := m.plan.job
	stuck := func(w int) bool { return plan[w] >= 0 && m.wants(plan[w]) && !m.may(w, plan[w]) }
	for _, w := range m.idle {
		if !stuck(w) {
			continue
		}
		k := slices.IndexFunc(m.idle, func(v int) bool {
			return plan[v] != plan[w] && m.may(v, plan[w]) && (plan[v] < 0 || m.may(w, plan[v]))
		})
		if k >= 0 {
			v := m.idle[k]
			plan[v], plan[w] = plan[w], plan[v]
		}
	}
}

// beginWhereMay begins what the plan has left to do of job j on the workers in turn that are idle and may.
func (m *Maker) beginWhereMay(turns []int, j int) {
	for k := 0; k < len(turns) && m.wants(j); k++ {
		if w := turns[k]; m.hand[w].job < 0 && m.may(w, j) {
			m.begin(w, j)
		}
	}
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
	t.barred = maps.Clone(s.Barred)
	m.barred += len(t.barred)
	return nil
}
