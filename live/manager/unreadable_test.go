package manager

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"productform/live/internal/servertest"
	"productform/live/wire"
)

// A report is damaged before any manager has read it, but the index of the stream still lists it,
// so its subject accepts no other report. The next leader logs an error, audit names the report,
// and the job can be cancelled.
func TestUnreadableReportIsReported(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := onDisk(t, folder)
	stop := runManager(t, s, Settings{Name: "m1", Rules: byPriority})
	quiet := make(chan struct{})
	_, ordered := hold(t, s, "w", quiet)
	ctx, js := deadline(t), streams(t, s)
	if _, err := connect(t, s).Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers("j", 2, 0)}}); err != nil {
		t.Fatal(err)
	}
	o := <-ordered
	stop()
	close(quiet)
	report, err := wire.Encode(&wire.Report{
		Version: 1, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: "w", Token: o.Token,
		Output: []byte("unreadable"), Size: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wire.WriteOnce(ctx, js, o.ReportTo(), report); err != nil {
		t.Fatal(err)
	}
	// the damaged report must not be the last message
	if _, err := wire.WriteOnce(ctx, js, wire.Clear("other"), []byte(`{"v":1}`)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	files, err := filepath.Glob(filepath.Join(folder, "jetstream", "*", "streams", wire.InStream, "msgs", "*.blk"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	at := bytes.Index(data, report)
	if err != nil || at < 0 {
		t.Fatal(at, err)
	}
	data[at+5] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = onDisk(t, folder)
	log, nc := new(recorder), servertest.Connect(t, s)
	js = streams(t, s)
	settings := Settings{Name: "m2", Rules: byPriority, Log: slog.New(slog.NewTextHandler(log, nil))}
	inBackground(t, func(ctx context.Context) error { return Run(ctx, nc, settings) })
	for !log.hasError() {
		if rest(ctx, 10*time.Millisecond); ctx.Err() != nil {
			t.Fatal("no error is logged")
		}
	}
	a, err := Audit(ctx, js)
	if err != nil || len(a.Contents) != 1 || !strings.HasPrefix(a.Contents[0], o.ReportTo()+":") {
		t.Fatalf("%+v, %v", a, err)
	}
	c := connect(t, s)
	if err := c.Cancel(ctx, "j"); err != nil {
		t.Fatal(err)
	}
	if views, err := c.Wait(ctx, "j"); err != nil || views[0].State != wire.JobCancelled {
		t.Fatalf("%+v, %v", views, err)
	}
}
