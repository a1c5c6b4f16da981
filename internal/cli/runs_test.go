package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"productform/internal/input"
	"productform/sweep"
)

// The fingerprint is equal in all processes of a program on a machine, and differs if the processor
// rounds differently: GODEBUG can hide fused multiply-add on amd64.
func TestFingerprint(t *testing.T) {
	if os.Getenv("RUNS_FINGERPRINT") != "" {
		if err := json.NewEncoder(os.Stdout).Encode(FingerprintOf()); err != nil {
			t.Fatal(err)
		}
		os.Exit(0)
	}
	of := func(debug string) (f Fingerprint) {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFingerprint$")
		c.Env = append(os.Environ(), "RUNS_FINGERPRINT=1", "GODEBUG="+debug)
		text, err := c.Output()
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	own := FingerprintOf()
	if own.Go != runtime.Version() || own.OS != runtime.GOOS || own.Arch != runtime.GOARCH ||
		len(own.Arithmetic) != 16 || own.Version == "" {
		t.Errorf("%+v", own)
	}
	if got := of(""); got != own {
		t.Errorf("%+v in another process, %+v in this one", got, own)
	}
	if got := of("cpu.all=off"); runtime.GOARCH == "amd64" && got == own {
		t.Errorf("%+v without any features of the processor, too", got)
	}
}

// ParseAnswer rejects an answer that was changed in transit.
func TestParseAnswer(t *testing.T) {
	good, err := line(Answer{Key: "k", SHA256: digest([]byte(`{"a":1}`)), Result: []byte(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := ParseAnswer(good); err != nil || string(a.Result) != `{"a":1}` {
		t.Errorf("%s, %v", a.Result, err)
	}
	if a, err := ParseAnswer([]byte(`{"key":"k","error":"why"}`)); err != nil || a.Error != "why" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bad := range []string{
		"", "{}", "null", "[]", `{"key":"k"}`, string(good[:len(good)-2]), strings.Replace(string(good), "1}", "2}", 1),
		strings.Replace(string(good), `"a"`, ` "a"`, 1), strings.Replace(string(good), "key", "kez", 1),
		string(good) + string(good),
	} {
		var refused *input.Error
		if a, err := ParseAnswer([]byte(bad)); !errors.As(err, &refused) {
			t.Errorf("%s: %+v, %v", bad, a, err)
		}
	}
}

// serve returns when its context is cancelled, even if more keys may arrive and no reader takes the
// answers.
func TestServeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan bool)
	key := strings.Repeat("a", 64)
	tasks := []sweep.Task[int]{{Key: key, Run: func(ctx context.Context) (int, error) {
		begun <- true
		<-ctx.Done()
		return 0, ctx.Err()
	}}}
	in, keys := io.Pipe()
	defer keys.Close()
	ended := make(chan error)
	var out bytes.Buffer
	go func() { ended <- serve(ctx, tasks, 1, in, &out) }()
	fmt.Fprintln(keys, key)
	<-begun
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v, %s", err, &out)
	}

	closed, answers := io.Pipe()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := serve(t.Context(), tasks, 1, strings.NewReader(""), answers); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("nobody reads: %v", err)
	}
}

// A failed task produces an answer, and does not stop the others.
func TestServeFailure(t *testing.T) {
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	tasks := []sweep.Task[int]{
		{Key: a, Run: func(context.Context) (int, error) { return 0, errors.New("too many jobs") }},
		{Key: b, Run: func(context.Context) (int, error) { return 7, nil }},
	}
	var out bytes.Buffer
	if err := serve(t.Context(), tasks, 1, strings.NewReader(a+"\n"+b), &out); err != nil {
		t.Fatal(err)
	}
	_, answers, _ := strings.Cut(out.String(), "\n")
	want := fmt.Sprintf(`{"key":"%s","error":"too many jobs"}`+"\n"+`{"key":"%s","sha256":"%s","result":7}`+"\n",
		a, b, digest([]byte("7")))
	if answers != want {
		t.Errorf("%s, want %s", answers, want)
	}
}
