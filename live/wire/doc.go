// Package wire is what the parts of the live system say to each other: which streams, subjects and messages are there?
//
// Clients, managers and workers talk through a NATS server with JetStream. Two streams hold all that must not be lost.
//
//	PFQ_IN    what the world says: batches of jobs, reports of tasks, wishes of users. A subject takes one message, ever:
//	          the first report of a task is its result, and the server refuses every other.
//	PFQ_PLAN  what the manager decided: one subject, every message appended by compare-and-set on the last sequence, so
//	          that a manager which was replaced without knowing it cannot write.
//
// For example:
//
//	b := &wire.Batch{Version: 1, Name: "monday", Jobs: []wire.Job{{Name: "squares", Tasks: 5, Work: 0.01, Run: wire.Run{Kind: "square"}}}}
//	data, err := wire.Encode(b)
//	if err != nil {
//		log.Fatal(err)
//	}
//	back, err := wire.Decode[wire.Batch](data)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(wire.Submit(b.Name), "carries a job of", back.Jobs[0].Tasks, "tasks")
//	_, err = wire.Decode[wire.Batch]([]byte(`{"v": 1, "name": "monday", "jobs": [{"name": "squares", "tasks": 0, "run": {"kind": "square"}}]}`))
//	fmt.Println(err)
//	// Output:
//	// pfq.in.submit.monday carries a job of 5 tasks
//	// jobs[0].tasks = 0: want an integer in [1, 10000000]
//
// The state of the cluster is the fold of PFQ_PLAN. Orders and heartbeats are not kept: an order is sent again as long as
// the heartbeats of the worker differ from it.
//
// All messages are JSON in UTF-8 of at most [MaxMessage] bytes. Whatever is read is checked here, and whatever is written
// too: the error of [Encode], [Decode], [DecodeWish] and [DecodeIn] is an *[num.InputError] with path, value and what is wanted.
//
// Versions mix. Every message carries the version of its form, which is raised when a reader of the form before would take
// the message wrongly; a reader refuses versions above its own. A field that may be overlooked is added without a new
// version, so a field that a reader does not know is passed over. Files that people write are read strictly instead.
package wire
