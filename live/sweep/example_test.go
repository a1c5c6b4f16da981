package sweep_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/sweep"
	"productform/live/worker"
)

func Example() {
	c, stop := startCluster() // a client of a cluster, whose workers have a sweep.Runner
	defer stop()
	pfq, model, results := files() // the program, a model of a cluster, and a folder for results
	defer os.RemoveAll(results)
	words := []string{pfq, "simulate", model, "--runs", "20", "--jumps", "1000", "--format", "json"}
	command, err := sweep.NewCommand(words, results)
	if err != nil {
		log.Fatal(err)
	}
	var many bytes.Buffer
	settings := sweep.Settings{Queue: sweep.Queue{Priority: 3}, Stdout: &many, Stderr: os.Stderr}
	if err := sweep.Run(context.Background(), command, settings, c.RunJob); err != nil {
		log.Fatal(err)
	}
	one, err := exec.Command(words[0], words[1:]...).Output()
	fmt.Println("same digits as in one process:", many.String() == withoutSpeed(one), err)
	// Output: same digits as in one process: true <nil>
}

// startCluster starts a server, a manager and two workers.
func startCluster() (c *client.Client, stop func()) {
	url, _, stopCluster := servertest.ExampleWith(manager.Run, manager.Settings{
		Name:  "m",
		Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}},
	})
	c, err := client.Connect(context.Background(), url)
	if err != nil {
		log.Fatal(err)
	}
	r := sweep.NewRunner(map[string]string{"pfq": sweep.PFQ()})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		handlers := map[string]worker.Handler{sweep.Kind: r.Handle}
		ended <- worker.Run(ctx, worker.Settings{Server: url, Name: "w", Slots: 2, Handlers: handlers})
	}()
	return c, func() {
		cancel()
		<-ended
		r.Close()
		c.Close()
		stopCluster()
	}
}

// files writes a model to a new folder, which can also hold results. pfq is the program that the
// tests have built.
func files() (pfq, model, results string) {
	results, err := os.MkdirTemp("", "sweep-")
	if err != nil {
		log.Fatal(err)
	}
	model = filepath.Join(results, "model.yaml")
	text := "servers: [{name: one, capacity: 1}]\nclasses: [{name: jobs, arrival_rate: 0.5, servers: [one]}]\n"
	if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	return sweep.PFQ(), model, results
}

// withoutSpeed removes the simulation speed from an answer, as in an answer from stored runs.
func withoutSpeed(answer []byte) string {
	return string(regexp.MustCompile(`"jumps_per_second": [0-9.e+]+`).ReplaceAll(
		answer, []byte(`"jumps_per_second": null`),
	))
}
