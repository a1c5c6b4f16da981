//go:build linux

package processes_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"productform/live/internal/processes"
)

// numbers returns the process IDs that a script has written.
func numbers(t testing.TB, file string) (pids []int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// ends waits until a process has ended.
func ends(t testing.TB, pid int) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		if line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err != nil || len(line) == 0 {
			return
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// Processes that a program leaves behind end with it, and its mark is removed.
func TestRunKillsLeftovers(t *testing.T) {
	folder := t.TempDir()
	pids := filepath.Join(t.TempDir(), "pids")
	err := processes.Run(t.Context(), folder, exec.Command("/bin/sh", "-c", `sleep 1000 & echo $! >"$0"; exit 3`, pids))
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("error %v, want exit code 3", err)
	}
	for _, pid := range numbers(t, pids) {
		ends(t, pid)
	}
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

// When the context ends, all processes end, and the error is the cause of the context.
func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	go func() {
		_, _ = r.Read(make([]byte, 1)) // the program has started
		cancel(why)
	}()
	cmd := exec.Command("/bin/sh", "-c", "(sleep 1000; echo) & echo; wait")
	cmd.Stdout = w
	if err := processes.Run(ctx, t.TempDir(), cmd); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	w.Close()
	if n, err := r.Read(make([]byte, 1)); n > 0 || err == nil { // no other process holds the pipe
		t.Errorf("read %d, %v", n, err)
	}
	if err := processes.Run(ctx, t.TempDir(), exec.Command("/bin/true")); !errors.Is(err, why) {
		t.Errorf("started after the end: %v", err)
	}
	if err := processes.Run(t.Context(), t.TempDir(), exec.Command("/no/such/program")); !errors.Is(
		err, os.ErrNotExist,
	) {
		t.Errorf("no program: %v", err)
	}
}

// Only processes with a mark of the folder are killed.
func TestKillLeft(t *testing.T) {
	folder := t.TempDir()
	if killed, err := processes.KillLeft(filepath.Join(folder, "missing")); killed != 0 || err != nil {
		t.Errorf("no folder: %d, %v", killed, err)
	}
	bearer, other := exec.Command("sleep", "1000"), exec.Command("sleep", "1000")
	bearer.Env = []string{"PATH=/bin", "PRODUCTFORM_GROUP=WORD"}
	other.Env = []string{"PATH=/bin", "PRODUCTFORM_GROUP=ANOTHER"}
	for _, cmd := range []*exec.Cmd{bearer, other} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	defer other.Wait()
	defer other.Process.Kill()
	ended := make(chan error, 1)
	go func() { ended <- bearer.Wait() }()
	if err := os.WriteFile(filepath.Join(folder, "WORD.group"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed, err := processes.KillLeft(folder)
	if killed != 1 || err != nil {
		t.Errorf("killed %d, %v, want 1", killed, err)
	}
	if err := <-ended; err == nil {
		t.Error("it ended successfully")
	}
	if line, err := os.ReadFile("/proc/" + strconv.Itoa(other.Process.Pid) + "/cmdline"); err != nil || len(line) == 0 {
		t.Error("another process was killed")
	}
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}
