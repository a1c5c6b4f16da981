// Package server runs the server that connects the parts of the live system, and creates its
// streams and buckets: where does the state of the cluster live?
//
// [Start] starts an embedded NATS server with JetStream. [Prepare] creates the streams and buckets
// of package wire on it or on an external server. [Check] lists the requirements that an external
// server does not meet.
//
//	stream, bucket  storage  properties
//	PFQ_IN          file     one message per subject; none is deleted, but clearing a job purges its subjects
//	PFQ_PLAN        file     one subject; messages are never deleted, but plans before a snapshot are purged
//	PFQ_BLOB        file     one message per subject: pieces of content, under its digest
//	PFQ_SNAP        file     object store: states of the book
//	pfq_leader      file     expires 2 s after the last renewal by the leader
//	pfq_jobs, pfq_workers, pfq_batches, pfq_profiles: file, the last value of each key
//
// For example:
//
//	ctx := context.Background()
//	s, err := server.Start(ctx, server.Settings{}) // in memory, since Store is empty
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
// On a server with keys only managers may create consumers: a consumer delivers stored messages to
// any subject, past all permissions of its creator. All other roles read with direct requests, as
// package store does.
package server
