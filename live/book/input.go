package book

import "productform/live/wire"

// An Input is a message of PFQ_IN with its sequence, or one of the other inputs of a book.
type Input struct {
	Sequence uint64 // sequence in PFQ_IN, from 1
	Restored bool   // whether the server has restored the message, which plans already mention
	In       wire.In
	Subject  string // subject of an unreadable message
	Err      error  // reason why it is unreadable

	Beat    *wire.Beat
	Down    *Down
	Removed *wire.Removal  // this removal is done
	Missing []wire.Missing // results that the server has lost

	adopted int // attempt at a task whose result was adopted
}

// Down reports that a worker is missing. It is ignored unless Process is the current process.
type Down struct{ Worker, Process string }

// Changes holds the names of everything with a changed view.
type Changes struct {
	Jobs, Workers, Batches map[string]bool // including names that no longer exist
	Profiles               map[string]bool // kinds of tasks
}

func newChanges() Changes {
	return Changes{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}
