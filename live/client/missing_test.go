package client_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/wire"
)

func lossyServer(t *testing.T) (context.Context, jetstream.JetStream, *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s := servertest.Start(t)
	nc := servertest.Connect(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Connect(ctx, inProcess, s.InProcess())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return ctx, js, c
}

// Results of a finished job yields the existing results. It then reports the tasks without a result
// immediately if the manager knows that the server has lost them.
func TestMissingResultsAreNamed(t *testing.T) {
	t.Parallel()
	ctx, js, c := lossyServer(t)
	view, err := wire.Encode(&wire.JobView{
		Version: 1, Name: "j", Batch: "b", State: wire.JobFailures, Tasks: 8, Failed: 1, Missing: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "$KV."+wire.JobsBucket+".j", view); err != nil {
		t.Fatal(err)
	}
	for _, task := range []int{2, 6} {
		report, err := wire.Encode(&wire.Report{Version: 1, Job: "j", Task: task, Attempt: 1 + task, Worker: "w",
			Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wire.WriteOnce(ctx, js, wire.Done("j", task), report); err != nil {
			t.Fatal(err)
		}
	}
	var seen []int
	var missing *client.MissingError
	for r, err := range c.Results(ctx, "j", 0) {
		if err != nil {
			if !errors.As(err, &missing) {
				t.Fatal(err)
			}
			break
		}
		seen = append(seen, r.Report.Task)
	}
	if missing == nil || !slices.Equal(seen, []int{2, 6}) || !slices.Equal(missing.Tasks, []int{0, 1, 3, 4, 5, 7}) {
		t.Fatalf("results of %v, %+v", seen, missing)
	}
	const want = "job j: the server has lost 5 results; no result of task 0-1, 3-5, 7, 1 of them given up"
	if missing.Error() != want {
		t.Errorf("%q, want %q", missing, want)
	}
}

// Submit returns an error instead of waiting if the server has lost the batch before a manager read
// it.
func TestLostBatchIsNamed(t *testing.T) {
	t.Parallel()
	ctx, js, c := lossyServer(t)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Submit(ctx, wire.Batch{Name: "b", Jobs: []wire.Job{{Name: "j", Tasks: 1,
			Run: wire.Run{Kind: "sleep"}}}})
		ended <- err
	}()
	in, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := wire.LastMessage(ctx, js, wire.InStream, wire.Submit("b")); err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
	}
	if err := in.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, client.ErrLost) {
		t.Error(err)
	}
}
