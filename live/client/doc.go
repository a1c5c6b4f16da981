// Package client submits jobs to the live system, waits for them and reads their results: how can
// the cluster run my jobs?
//
// A client may disconnect after submitting: its jobs run without it, and a client that comes back
// finds jobs and results by name ([L14], sections 3.3 and 4.3). Everything is written only once,
// even if a call is repeated. Calls wait for a server that is briefly unavailable. One connection
// suffices for any number of jobs.
//
//	Submit   a batch of jobs, which the manager accepts or refuses as a whole
//	Wait     until jobs are done
//	Results  of a job, as they arrive
//	Cancel, Change, Clear, Drain   requests about jobs and workers
//	Jobs, Workers, Status          the state of the cluster
//
// For example:
//
//	square := func(_ context.Context, t wire.Task) ([]byte, error) {
//		return strconv.AppendInt(nil, int64(t.Number*t.Number), 10), nil
//	}
//	url, stop := startCluster(context.Background(), map[string]worker.Handler{"square": square}) // usually elsewhere
//	defer stop()
//	c, err := client.Connect(context.Background(), url)
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer c.Close()
//	batch := wire.Batch{Jobs: []wire.Job{{Name: "squares", Tasks: 5, Estimate: 0.01, Run: wire.Run{Kind: "square"}}}}
//	b, err := c.Submit(context.Background(), batch)
//	if err != nil {
//		log.Fatal(err)
//	}
//	jobs, err := b.Wait(context.Background())
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(jobs[0].Name, jobs[0].State)
//	// Output: squares completed
package client
