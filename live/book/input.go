package book

import "productform/live/wire"

// An Input is something that was heard: a message of PFQ_IN, with its sequence, or one of the others.
type Input struct {
	Sequence uint64 // in PFQ_IN, from 1
	Restored bool   // the server has restored the message, which plans mention already
	In       wire.In
	Subject  string // of a message that could not be read
	Err      error  // why it could not

	Beat    *wire.Beat
	Down    *Down
	Removed *wire.Removal  // has been carried out
	Missing []wire.Missing // results that the server has lost

	adopted int // attempt at a task whose result was adopted
}

// Down says that the status checker misses a worker. It counts if the process is that which the book knows.
type Down struct{ Worker, Process string }

// Changes are the names of all whose views changed.
type Changes struct {
	Jobs, Workers, Batches map[string]bool // those that are not there any more, too
	Profiles               map[string]bool // kinds of tasks
}

func newChanges() Changes {
	return Changes{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}
