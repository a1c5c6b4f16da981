package book

import "productform/live/wire"

// JobName returns the name of the job that currently has the given number, or "" if there is none.
func (b *Book) JobName(number int) string {
	if j := b.job(number); j != nil {
		return j.Job.Name
	}
	return ""
}

// JobNumber returns the number of a job, or -1 if there is none.
func (b *Book) JobNumber(name string) int {
	if n, ok := b.numbers[name]; ok {
		return n
	}
	return -1
}

// WorkerName returns the name of the worker that currently has the given number, or "" if there is
// none.
func (b *Book) WorkerName(number int) string {
	if number < 0 || number >= len(b.workers) {
		return ""
	}
	return b.workers[number].Name
}

// Script returns the script of a replay, or nil on the wall clock.
func (b *Book) Script() *wire.Script { return b.script }
