package sweep

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	resumeTasks = 60
	resumeSteps = 5000 // 100 kB of JSON, so a large part of the time goes into writing
)

// TestMain runs the tasks of TestResume instead of the tests, in a process that will be killed.
func TestMain(m *testing.M) {
	if folder := os.Getenv("SWEEP_FOLDER"); folder != "" {
		os.Exit(runToBeKilled(folder, os.Getenv("SWEEP_STOP")))
	}
	os.Exit(m.Run())
}

// runToBeKilled runs the tasks. Tasks with number stop or higher never end.
func runToBeKilled(folder, stop string) int {
	first, err := strconv.Atoi(stop)
	if err != nil {
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // in case the parent has died
	defer cancel()
	var tasks []Task[walk]
	for i := range resumeTasks {
		k, err := Key("walk", uint64(i), resumeSteps)
		if err != nil {
			return 2
		}
		tasks = append(tasks, Task[walk]{Key: k, Run: func(ctx context.Context) (walk, error) {
			if i >= first {
				<-ctx.Done()
				return walk{}, ctx.Err()
			}
			return newWalk(uint64(i), resumeSteps), nil
		}})
	}
	if _, err := Run(ctx, tasks, Settings{Workers: 3, Folder: folder}); err != nil {
		return 1
	}
	return 0
}

// runAndKill runs the tasks in another process and kills it once it has stored count results.
func runAndKill(t *testing.T, folder string, stop, count int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SWEEP_FOLDER="+folder, "SWEEP_STOP="+strconv.Itoa(stop))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for kept(t, folder) < count {
		select {
		case err := <-ended:
			t.Fatalf("the process ended by itself with %d results: %v", kept(t, folder), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the process was not killed")
	}
}

// kept returns the number of results in a folder.
func kept(t *testing.T, folder string) int {
	all := files(t, folder)
	return len(all) - len(temporariesOf(all))
}

// After SIGKILL between tasks, exactly the tasks without a result run.
func TestResume(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	runAndKill(t, folder, 25, 25)
	tasks, want, runs := walks(t, resumeTasks, resumeSteps)
	var last Progress
	mustRun(t, tasks, Settings{Folder: folder, Progress: func(p Progress) { last = p }}, want)
	for i := range runs {
		expected := int64(1)
		if i < 25 {
			expected = 0
		}
		if n := runs[i].Load(); n != expected {
			t.Errorf("task %d ran %d times, want %d", i, n, expected)
		}
	}
	if last.Reused != 25 || last.Done != resumeTasks {
		t.Errorf("%+v", last)
	}
}

// After SIGKILL at any moment, even while files are being written, stored results are complete, and
// the rest runs.
func TestResumeAnywhere(t *testing.T) {
	folder := t.TempDir()
	for _, count := range []int{1, 7, 18, 19, 33, 50} {
		runAndKill(t, folder, 55, count)
	}
	before := kept(t, folder)
	tasks, want, runs := walks(t, resumeTasks, resumeSteps)
	mustRun(t, tasks, Settings{Folder: folder}, want)
	if n := sum(runs); n != int64(resumeTasks-before) {
		t.Errorf("%d runs, but %d of %d results were kept", n, before, resumeTasks)
	}
	left := temporaries(t, folder)
	if len(left) > 6*3 {
		t.Errorf("%d temporary files, more than one per worker killed", len(left))
	}
	for _, name := range left {
		if !isTemporary(filepath.Base(name)) || !strings.HasPrefix(name, folder) {
			t.Errorf("%s would never be removed", name)
		}
	}
}
