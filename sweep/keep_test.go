package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// files returns the names of all files in a folder and its subfolders.
func files(t testing.TB, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func temporaries(t testing.TB, folder string) []string {
	return temporariesOf(files(t, folder))
}

// temporariesOf returns the names of temporary files among those of all.
func temporariesOf(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return strings.HasSuffix(name, ".json") })
}

// A file is one JSON object at the path that its key determines.
func TestFile(t *testing.T) {
	folder := t.TempDir()
	tasks, want, _ := walks(t, 1, 3)
	mustRun(t, tasks, Settings{Folder: folder}, want)
	name := filepath.Join(folder, tasks[0].Key[:2], tasks[0].Key[2:]+".json")
	if got := files(t, folder); !slices.Equal(got, []string{name}) {
		t.Errorf("%v, want %v", got, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Key, SHA256 string
		Result      walk
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Key != tasks[0].Key ||
		!reflect.DeepEqual(got.Result, want[0]) {
		t.Errorf("%s: %+v, %v", text, got, err)
	}
}

// Whatever happens to a file, the answer is correct. The task runs again if and only if the file
// has changed, and then the file is valid again.
func TestDamage(t *testing.T) {
	folder := t.TempDir()
	tasks, want, runs := walks(t, 3, 4)
	s := Settings{Workers: 1, Folder: folder}
	mustRun(t, tasks, s, want)
	good := make([][]byte, len(tasks))
	for i := range tasks {
		var err error
		if good[i], err = os.ReadFile(fileOf(folder, tasks[i].Key)); err != nil {
			t.Fatal(err)
		}
	}
	foreign := envelope(tasks[0].Key, []byte(`{"Seed":0,"Steps":[1],"Mean":1,"More":2}`))
	damages := map[string]func(t *rapid.T, text []byte) []byte{
		"flip": func(t *rapid.T, text []byte) []byte {
			for range rapid.IntRange(1, 3).Draw(t, "flips") {
				text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
			return text
		},
		"digit": func(t *rapid.T, text []byte) []byte { // still valid JSON
			at := bytes.LastIndexAny(text, "0123456789")
			text[at] = '0' + (text[at]-'0'+1)%10
			return text
		},
		"truncate": func(t *rapid.T, text []byte) []byte {
			return text[:rapid.IntRange(0, len(text)-1).Draw(t, "size")]
		},
		"append": func(t *rapid.T, text []byte) []byte {
			return append(text, rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "tail")...)
		},
		"space":    func(t *rapid.T, text []byte) []byte { return append(text, ' ') },
		"twice":    func(t *rapid.T, text []byte) []byte { return append(text, text...) },
		"zeros":    func(t *rapid.T, text []byte) []byte { return make([]byte, len(text)) }, // a power failure
		"noise":    func(t *rapid.T, _ []byte) []byte { return rapid.SliceOf(rapid.Byte()).Draw(t, "noise") },
		"of other": func(t *rapid.T, _ []byte) []byte { return slices.Clone(good[1]) },
		"unknown":  func(t *rapid.T, _ []byte) []byte { return slices.Clone(foreign) },
		"missing":  func(t *rapid.T, _ []byte) []byte { return envelope(tasks[0].Key, []byte(`{"Seed":0}`)) },
		"null":     func(t *rapid.T, _ []byte) []byte { return envelope(tasks[0].Key, []byte(`null`)) },
		"list":     func(t *rapid.T, _ []byte) []byte { return envelope(tasks[0].Key, []byte(`[]`)) },
		"empty":    func(t *rapid.T, _ []byte) []byte { return envelope(tasks[0].Key, nil) },
	}
	var names []string
	for name := range damages {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(names).Draw(rt, "damage")
		text := damages[kind](rt, slices.Clone(good[0]))
		if err := os.WriteFile(fileOf(folder, tasks[0].Key), text, 0o600); err != nil {
			rt.Fatal(err)
		}
		before, expected := sum(runs), int64(1)
		if bytes.Equal(text, good[0]) { // two flips of the same bit
			expected = 0
		}
		for range 2 {
			got, err := Run(context.Background(), tasks, s)
			if err != nil || !reflect.DeepEqual(got, want) {
				rt.Fatalf("%s: %v, %v", kind, got, err)
			}
			if n := sum(runs) - before; n != expected {
				rt.Fatalf("%s: %d runs, want %d", kind, n, expected)
			}
		}
		if again, err := os.ReadFile(fileOf(folder, tasks[0].Key)); err != nil || !bytes.Equal(again, good[0]) {
			rt.Fatalf("%s: the file was not repaired: %s, %v", kind, again, err)
		}
	})
}

// If the type of the results has changed, they are computed again.
func TestTypeChanged(t *testing.T) {
	type more struct {
		Seed  uint64
		Steps []float64
		Mean  float64
		Worst float64
	}
	folder := t.TempDir()
	tasks, want, _ := walks(t, 1, 3)
	mustRun(t, tasks, Settings{Folder: folder}, want)
	changed := []Task[more]{
		{Key: tasks[0].Key, Run: func(context.Context) (more, error) { return more{Worst: 1}, nil }},
	}
	if got, err := Run(t.Context(), changed, Settings{Folder: folder}); err != nil || got[0].Worst != 1 {
		t.Errorf("an extra field: %v, %v", got, err)
	}
	mustRun(t, tasks, Settings{Folder: folder}, want)
}

// If no file can be written, the error occurs before any work or names the task.
func TestFolderErrors(t *testing.T) {
	tasks, _, runs := walks(t, 3, 3)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{file, filepath.Join(file, "below"), "a\x00b"} {
		got, err := Run(t.Context(), tasks, Settings{Folder: folder})
		if got != nil || err == nil || !strings.HasPrefix(err.Error(), "folder of results: ") || sum(runs) != 0 {
			t.Errorf("%q: %v, %v, %d runs", folder, got, err, sum(runs))
		}
	}

	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(fileOf(folder, tasks[1].Key), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := Run(t.Context(), tasks, Settings{Workers: 1, Folder: folder})
	if got != nil || err == nil || !strings.HasPrefix(err.Error(), "tasks[1]: ") {
		t.Errorf("a folder in place of the file: %v, %v", got, err)
	}
	if left := temporaries(t, folder); len(left) != 0 {
		t.Errorf("temporary files left: %v", left)
	}

	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, tasks[2].Key[:2]), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = Run(t.Context(), tasks, Settings{Workers: 1, Folder: folder})
	if got != nil || err == nil || !strings.HasPrefix(err.Error(), "tasks[2]: ") {
		t.Errorf("a file in place of the folder: %v, %v", got, err)
	}
}

// A run removes old temporary files, and touches nothing else.
func TestStaleFiles(t *testing.T) {
	folder := t.TempDir()
	tasks, want, _ := walks(t, 1, 3)
	name := strings.TrimPrefix(fileOf(folder, tasks[0].Key), folder+string(filepath.Separator))
	old, young := time.Now().Add(-25*time.Hour), time.Now().Add(-23*time.Hour)
	for _, f := range []struct {
		name string
		at   time.Time
		stay bool
	}{
		{name + ".123.tmp", old, false},
		{filepath.Base(name) + ".7.tmp", old, false}, // what a killed prepare leaves
		{name + ".124.tmp", young, true},
		{name + ".125.tmp", time.Now().Add(48 * time.Hour), true},
		{name + ".126", old, true},
		{filepath.Join(tasks[0].Key[:2], "notes.tmp"), old, true},
		{filepath.Join(tasks[0].Key[:2], "deep", filepath.Base(name)+".1.tmp"), old, true},
		{filepath.Join("other", filepath.Base(name)+".1.tmp"), old, true},
		{"notes.txt", old, true},
	} {
		file := filepath.Join(folder, f.name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, f.at, f.at); err != nil {
			t.Fatal(err)
		}
		mustRun(t, tasks, Settings{Folder: folder}, want)
		if _, err := os.Stat(file); (err == nil) != f.stay {
			t.Errorf("%s of %v: %v", f.name, f.at, err)
		}
	}
}
