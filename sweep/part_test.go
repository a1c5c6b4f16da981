package sweep

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
)

// Parts run in any order, some twice and some not at all. Then the whole run finds their results,
// runs the rest, and returns the same results as a run without parts.
func TestParts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		tasks, want, runs := walks(t, rapid.IntRange(0, 12).Draw(rt, "tasks"), 3)
		n := rapid.IntRange(1, 15).Draw(rt, "parts")
		done := map[int]bool{}
		for _, k := range rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(rt, "order") {
			part, err := Part(tasks, k, n)
			if err != nil {
				rt.Fatal(err)
			}
			if _, err := Run(t.Context(), part, Settings{Workers: 2, Folder: folder}); err != nil {
				rt.Fatal(err)
			}
			done[k] = true
		}
		for i := range tasks {
			expected := int64(0)
			if done[i%n] {
				expected = 1
			}
			if got := runs[i].Load(); got != expected {
				rt.Errorf("task %d of the parts %v of %d ran %d times", i, done, n, got)
			}
		}
		missing, err := Missing(t.Context(), tasks, folder)
		if err != nil || int64(len(missing)) != int64(len(tasks))-sum(runs) {
			rt.Errorf("%d tasks are missing, %v", len(missing), err)
		}
		for _, task := range missing {
			body, err := task.Body(t.Context())
			if err == nil {
				err = Put[walk](folder, task.Key, body)
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		ran := sum(runs)
		got, err := Run(t.Context(), tasks, Settings{Folder: folder})
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			rt.Fatalf("%v, %v", got, err)
		}
		if ran != int64(len(tasks)) || sum(runs) != ran {
			rt.Errorf("%d tasks ran %d times, then %d times more", len(tasks), ran, sum(runs)-ran)
		}
	})
}

func TestPartRange(t *testing.T) {
	tasks, _, _ := walks(t, 3, 1)
	for _, c := range []struct {
		k, n int
		want string
	}{
		{0, 0, "n = 0: want an integer in 1..1000000"},
		{0, -3, "n = -3: want an integer in 1..1000000"},
		{0, MostParts + 1, "n = 1000001: want an integer in 1..1000000"},
		{-1, 4, "k = -1: want an integer in 0..3"},
		{4, 4, "k = 4: want an integer in 0..3"},
		{0, 1, ""}, {2, 3, ""}, {MostParts - 1, MostParts, ""},
	} {
		part, err := Part(tasks, c.k, c.n)
		if got := text(err); got != c.want || err != nil && part != nil {
			t.Errorf("part %d of %d: %q, want %q", c.k, c.n, got, c.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Put writes the same bytes as Run would; bad bodies and keys leave no trace.
func TestPut(t *testing.T) {
	byRun, byPut := t.TempDir(), filepath.Join(t.TempDir(), "new", "folder")
	tasks, want, _ := walks(t, 2, 3)
	mustRun(t, tasks, Settings{Folder: byRun}, want)
	body, err := tasks[0].Body(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := tasks[1].Body(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, body string }{
		{tasks[0].Key[1:], string(body)},
		{"../" + tasks[0].Key[3:], string(body)},
		{strings.ToUpper(tasks[0].Key), string(body)},
		{"", string(body)},
		{tasks[0].Key, ""},
		{tasks[0].Key, "null"},
		{tasks[0].Key, "{}"},
		{tasks[0].Key, "[]"},
		{tasks[0].Key, " " + string(body)},
		{tasks[0].Key, string(body) + "\n"},
		{tasks[0].Key, string(body) + string(body)},
		{tasks[0].Key, string(body[:len(body)-1])},
		{tasks[0].Key, `{"Seed":0,"Steps":[1.0],"Mean":1}`},
		{tasks[0].Key, `{"Steps":[1],"Seed":0,"Mean":1}`},
		{tasks[0].Key, `{"Seed":0,"Steps":[1],"Mean":NaN}`},
		{tasks[0].Key, `{"Seed":0,"Steps":[1],"Mean":1,"More":2}`},
	} {
		var bad *input.Error
		if err := Put[walk](byPut, c.key, []byte(c.body)); !errors.As(err, &bad) {
			t.Errorf("Put(%q, %q): %v", c.key, c.body, err)
		}
	}
	if _, err := os.Stat(byPut); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("bad bodies made the folder: %v", err)
	}
	for range 2 {
		if err := Put[walk](byPut, tasks[0].Key, body); err != nil {
			t.Fatal(err)
		}
	}
	var bad *input.Error
	if err := Put[walk](byPut, tasks[0].Key, other); !errors.As(err, &bad) || bad.Path != "body" {
		t.Errorf("another result: %v", err)
	}
	a, errA := os.ReadFile(fileOf(byRun, tasks[0].Key))
	b, errB := os.ReadFile(fileOf(byPut, tasks[0].Key))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("Run wrote %s, Put %s; %v, %v", a, b, errA, errB)
	}
	if err := os.WriteFile(fileOf(byPut, tasks[0].Key), []byte("spoilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Put[walk](byPut, tasks[0].Key, body); err != nil {
		t.Errorf("in place of a spoilt file: %v", err)
	}
	if got := files(t, byPut); len(got) != 1 {
		t.Errorf("files %v", got)
	}
}

// Missing reports all results as missing if there is no folder, and Run does not look for them once
// the context is done.
func TestMissing(t *testing.T) {
	tasks, _, runs := walks(t, 3, 1)
	folder := filepath.Join(t.TempDir(), "none")
	if missing, err := Missing(t.Context(), tasks, folder); err != nil || len(missing) != 3 {
		t.Errorf("%d are missing, %v", len(missing), err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Missing(ctx, tasks, folder); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	if _, err := Missing(t.Context(), append(tasks, tasks[0]), folder); err == nil {
		t.Error("two tasks of one key")
	}
	if sum(runs) != 0 {
		t.Errorf("%d runs", sum(runs))
	}
}
