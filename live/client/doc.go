// Package client submits jobs to the live system, waits for them and reads their results: how do I have work done by the cluster?
//
// A client asks and goes away: what it has submitted runs without it, and a client that comes back finds jobs and results
// under their names ([L14], sections 3.3 and 4.3). All that it writes is written once, however often it is tried; a server
// that is away for a moment is waited for. One connection carries all, whatever the number of jobs.
//
//	Submit   a batch of jobs, all or none of which the manager accepts
//	Wait     until jobs are done
//	Results  of a job, as they come
//	Cancel, Change, Clear, Drain   wishes about jobs and workers
//	Jobs, Workers, Status          how things stand
//
// For example:
//
//	square := func(_ context.Context, t worker.Task) ([]byte, error) {
//		return strconv.AppendInt(nil, int64(t.Number*t.Number), 10), nil
//	}
//	url, stop := startCluster(context.Background(), map[string]worker.Handler{"square": square}) // elsewhere, as a rule
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
