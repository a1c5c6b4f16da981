// Package server runs the server that connects the parts of the live system, and makes what they
// keep there: where does the state of the cluster live?
//
// [Start] starts an embedded NATS server with JetStream, [Prepare] makes the streams and buckets of
// package wire on it or on a server outside, and [Check] lists what such a server lacks.
//
//	stream, bucket  storage  what holds
//	PFQ_IN          file     a subject takes one message, ever; no message is deleted, subjects are purged when a job is cleared
//	PFQ_PLAN        file     one subject; no message is deleted, plans before a snapshot are purged
//	PFQ_BLOB        file     a subject takes one message, ever: pieces of a content are under its digest, see package store
//	PFQ_SNAP        file     object store: states of the book
//	pfq_leader      file     ends 2 s after the last sign of the leader
//	pfq_jobs, pfq_workers, pfq_batches, pfq_profiles: file, the last value of each key
//
// For example:
//
//	ctx := context.Background()
//	s, err := server.Start(ctx, server.Settings{}) // in memory, since no folder is named as Store
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer s.Close()
//	nc, err := nats.Connect(s.URL())
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer nc.Close()
//	js, err := jetstream.New(nc)
//	if err != nil {
//		log.Fatal(err)
//	}
//	if err := server.Prepare(ctx, js, server.Layout{Memory: true}); err != nil {
//		log.Fatal(err)
//	}
//	_, first := js.Publish(ctx, wire.Done("squares", 3), []byte("9"))
//	_, second := js.Publish(ctx, wire.Done("squares", 3), []byte("8"))
//	fmt.Println("taken:", first == nil, second == nil)
//	// Output: taken: true false
//
// Only a manager may make consumers on a server with keys: a consumer delivers what is stored to
// any subject, whoever made it, past all permissions. All others read by direct requests, as
// package store does.
package server
