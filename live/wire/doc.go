// Package wire defines the protocol of the live system: which streams, subjects and messages are
// there?
//
// Clients, managers and workers communicate through a NATS server with JetStream. Two streams hold
// everything that must not be lost.
//
//	PFQ_IN    events from outside: batches of jobs, reports on tasks, requests of users. A subject
//	          takes only one message: the first report on a task is its result, and the server
//	          rejects all others.
//	PFQ_PLAN  decisions of the manager, on one subject. Every message is appended by compare-and-set
//	          on the last sequence, so a manager cannot write after it was replaced.
//
// For example:
//
//	b := &wire.Batch{
//		Version: 1, Name: "monday",
//		Jobs: []wire.Job{{Name: "squares", Tasks: 5, Work: 0.01, Run: wire.Run{Kind: "square"}}},
//	}
//	data, err := wire.Encode(b)
//	if err != nil {
//		log.Fatal(err)
//	}
//	back, err := wire.Decode[wire.Batch](data)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(wire.Submit(b.Name), "carries a job of", back.Jobs[0].Tasks, "tasks")
//	_, err = wire.Decode[wire.Batch](
//		[]byte(`{"v": 1, "name": "monday", "jobs": [{"name": "squares", "tasks": 0, "run": {"kind": "square"}}]}`),
//	)
//	fmt.Println(err)
//	// Output:
//	// pfq.in.submit.monday carries a job of 5 tasks
//	// jobs[0].tasks = 0: want an integer in [1, 10000000]
//
// Folding PFQ_PLAN gives the state of the cluster. Orders and heartbeats are not stored: an order
// is sent again while the heartbeats of the worker differ from it.
//
// All messages are JSON in UTF-8 of at most [MaxMessage] bytes. Messages are checked when read and
// when written: [Encode], [Decode], [DecodeWish] and [DecodeIn] return an *[num.InputError] with
// the path, the value and the valid values.
//
// Programs of different versions can share a cluster. Every message carries the version of its
// format. The version is raised only when older readers would misread the new format, and readers
// reject versions above their own. Fields that may be overlooked are added without a new version,
// so readers ignore unknown fields. Files that users write are read strictly instead.
package wire
