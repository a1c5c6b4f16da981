package client_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/worker"
)

// The example of commands runs as published: workers run the programs of the allow-list with the
// uploaded files.
func TestCommandExampleRuns(t *testing.T) {
	folder := filepath.Join("..", "examples")
	allow, err := worker.ReadAllowFile(filepath.Join(folder, "allow.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	v := servertest.Start(t)
	runManager(t, "", v.InProcess())
	background(t, func(ctx context.Context) error {
		return worker.Run(ctx, worker.Settings{
			Server:  inProcess,
			Options: []nats.Option{v.InProcess()},
			Name:    "w",
			Slots:   2,
			Allow:   allow,
			AsRoot:  true,
		})
	})
	c, ctx := connect(t, inProcess, v.InProcess())
	file, err := client.ReadFile(filepath.Join(folder, "command.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range file.Uploads {
		content, err := os.ReadFile(filepath.Join(folder, u.Path))
		if err != nil {
			t.Fatal(err)
		}
		digest, err := c.Upload(ctx, bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		run := &file.Batch.Jobs[u.Job].Run
		run.Inputs = map[string]string{u.Name: digest}
	}
	submit(t, ctx, c, file.Batch)
	var want []string
	for task := range 10 {
		want = append(want, fmt.Sprintf("task %d of hello: good morning\n", task))
	}
	if got := outputs(t, ctx, c, "hello"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	content, err := os.ReadFile(filepath.Join(folder, "sleep.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	lines := fmt.Sprintf("%d list.txt\n", bytes.Count(content, []byte("\n")))
	if got := outputs(t, ctx, c, "count-lines"); !slices.Equal(got, []string{lines}) {
		t.Errorf("%q, want %q", got, lines)
	}
}
