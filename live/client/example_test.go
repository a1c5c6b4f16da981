package client_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strconv"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/wire"
	"productform/live/worker"
)

func Example() {
	square := func(_ context.Context, t wire.Task) ([]byte, error) {
		return strconv.AppendInt(nil, int64(t.Number*t.Number), 10), nil
	}
	url, stop := startCluster(context.Background(), map[string]worker.Handler{"square": square}) // usually elsewhere
	defer stop()
	c, err := client.Connect(context.Background(), url)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	batch := wire.Batch{Jobs: []wire.Job{{Name: "squares", Tasks: 5, Estimate: 0.01, Run: wire.Run{Kind: "square"}}}}
	b, err := c.Submit(context.Background(), batch)
	if err != nil {
		log.Fatal(err)
	}
	jobs, err := b.Wait(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(jobs[0].Name, jobs[0].State)
	// Output: squares completed
}

// A client submits a job of five tasks, reads the results as they arrive, and prints the final
// state. Server, manager and workers usually run elsewhere; here they run in the background.
func ExampleClient_Results() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	url, stop := startCluster(ctx, map[string]worker.Handler{
		"square": func(_ context.Context, t wire.Task) ([]byte, error) {
			return strconv.AppendInt(nil, int64(t.Number*t.Number), 10), nil
		},
	})
	defer stop()

	c, err := client.Connect(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{
		{Name: "squares", Tasks: 5, Estimate: 0.01, Priority: 2, Run: wire.Run{Kind: "square"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	var squares []string
	for r, err := range c.Results(ctx, "squares", 0) {
		if err != nil {
			log.Fatal(err)
		}
		squares = append(squares, string(r.Report.Output))
	}
	slices.Sort(squares) // they arrive in any order
	jobs, err := b.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(squares, jobs[0].State)
	// Output: [0 1 16 4 9] completed
}

// startCluster starts a server, a manager and two workers.
func startCluster(ctx context.Context, handlers map[string]worker.Handler) (url string, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}}
	url, _, stopCluster := servertest.ExampleWith(manager.Run, manager.Settings{Name: "m", Rules: rules})
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, worker.Settings{Server: url, Name: "w", Slots: 2, Handlers: handlers})
	}()
	return url, func() {
		cancel()
		<-ended
		stopCluster()
	}
}
