package policy_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/clustertest"
	"productform/live/manager"
	"productform/live/policy"
	"productform/live/wire"
	"productform/live/worker"
)

func Example() {
	firstCome := func(q *wire.Question) ([]string, error) {
		jobs := make([]string, len(q.About)) // one for each worker that is up, or none
		for w := range jobs {
			if w < q.Jobs[0].Tasks {
				jobs[w] = q.Jobs[0].Name
			}
		}
		return jobs, nil
	}
	url, stop := startCluster("first-come") // a manager that was started with --policy-service first-come
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- policy.Serve(ctx, url, "first-come", firstCome) }()
	by, status := render(url)
	fmt.Println(len(by), "tasks are done, planned by the service:", status.Cluster.Counts.Advised > 0)
	cancel()
	fmt.Println("ended:", <-served)
	// Output:
	// 3 tasks are done, planned by the service: true
	// ended: <nil>
}

// A policy that gives each worker the first job it may have: jobs of kind "render" go only to workers that say that they have a GPU.
// The manager was started with --policy-service gpus.
func ExampleServe() {
	plan := func(q *wire.Question) ([]string, error) {
		left := map[string]int{} // workers that each job can still use
		for _, j := range q.Jobs {
			if left[j.Name] = j.Tasks; j.MaxWorkers > 0 {
				left[j.Name] = min(j.Tasks, j.MaxWorkers)
			}
		}
		jobs := make([]string, len(q.About))
		for w, about := range q.About {
			for _, j := range q.Jobs {
				if left[j.Name] > 0 && (j.Kind != "render" || about.Facts["gpu"] == true) {
					jobs[w] = j.Name
					left[j.Name]--
					break
				}
			}
		}
		return jobs, nil
	}

	url, stop := startCluster("gpus") // such as nats://127.0.0.1:4222
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- policy.Serve(ctx, url, "gpus", plan) }()

	rendered, status := render(url)
	fmt.Println("rendered by", rendered)
	fmt.Println("plans by the service:", status.Cluster.Counts.Advised > 0)
	cancel()
	fmt.Println("ended:", <-served)
	// Output:
	// rendered by [big big big]
	// plans by the service: true
	// ended: <nil>
}

// render has three tasks rendered on two workers, one of which has a GPU, and returns which did.
func render(url string) (by []string, status *wire.Status) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	draw := func(_ context.Context, t worker.Task) ([]byte, error) { return []byte(t.Worker), nil }
	ended := make(chan error, 2)
	for name, facts := range map[string]string{"big": `{"gpu": true}`, "small": `{"gpu": false}`} {
		go func() {
			ended <- worker.Run(ctx, worker.Settings{
				Server: url, Name: name, Handlers: map[string]worker.Handler{"render": draw}, Facts: []string{"/bin/echo", facts},
			})
		}()
	}
	c, err := client.Connect(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	known := func(s *wire.Status) bool { // the facts of both
		n := 0
		for _, w := range s.Workers {
			n += len(w.Facts)
		}
		return n == 2
	}
	for status, err = c.Status(ctx); err != nil || !known(status); status, err = c.Status(ctx) {
		time.Sleep(10 * time.Millisecond)
	}
	job := wire.Job{Name: "film", Tasks: 3, Work: 1, Run: wire.Run{Kind: "render"}}
	if _, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{job}}); err != nil {
		log.Fatal(err)
	}
	for r, err := range c.Results(ctx, "film", 0) {
		if err != nil {
			log.Fatal(err)
		}
		by = append(by, string(r.Report.Output))
	}
	if status, err = c.Status(ctx); err != nil {
		log.Fatal(err)
	}
	cancel()
	<-ended
	<-ended
	return by, status
}

// startCluster starts a server and a manager that asks a policy service.
func startCluster(service string) (url string, stop func()) {
	rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}}
	url, _, stop = clustertest.Start(manager.Settings{Name: "m", Rules: rules, Service: service})
	return url, stop
}
