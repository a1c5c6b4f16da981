package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/wire"
	"productform/live/worker"
)

func Example() {
	url, stop := startCluster() // such as nats://127.0.0.1:4222
	defer stop()
	count := func(_ context.Context, t wire.Task) ([]byte, error) {
		text, err := os.ReadFile(filepath.Join(t.Folder, "text")) // an error: the task is tried again
		return fmt.Append(nil, len(strings.Fields(string(text)))), err
	}
	leave, left := make(chan struct{}), make(chan error)
	go func() {
		handlers := map[string]worker.Handler{"count": count}
		left <- worker.Run(context.Background(), worker.Settings{
			Server: url, Name: "counter", Handlers: handlers, Leave: leave,
		})
	}()
	fmt.Println(words(url, "to be or not to be"), "words")
	close(leave) // as on SIGTERM: the running task is finished
	fmt.Println("left:", <-left)
	// Output:
	// 6 words
	// left: <nil>
}

// words returns the number of words in a text, counted by the cluster.
func words(url, text string) string {
	ctx := context.Background()
	c, err := client.Connect(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	digest, err := c.Upload(ctx, strings.NewReader(text))
	if err != nil {
		log.Fatal(err)
	}
	run := wire.Run{Kind: "count", Inputs: map[string]string{"text": digest}}
	if _, err := c.Submit(ctx, wire.Batch{
		Jobs: []wire.Job{{Name: "words", Tasks: 1, Estimate: 1, Run: run}},
	}); err != nil {
		log.Fatal(err)
	}
	var all bytes.Buffer
	for r, err := range c.Results(ctx, "words", 0) {
		if err != nil {
			log.Fatal(err)
		}
		all.Write(r.Report.Output)
	}
	return all.String()
}

// startCluster starts a server and a manager.
func startCluster() (url string, stop func()) {
	url, _, stop = servertest.ExampleWith(manager.Run, manager.Settings{
		Name:  "m",
		Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}},
	})
	return url, stop
}
