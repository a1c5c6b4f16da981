package sweep

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"productform/internal/runs"
	"productform/live/wire"
)

// Kind is the kind of the tasks.
const Kind = "sweep"

// manifestName is the name of the input that holds a [manifest].
const manifestName = "sweep.json"

// A manifest says what the tasks of a job are.
type manifest struct {
	Program     string           `json:"program"` // pfq or figures
	SHA256      string           `json:"sha256"`  // of its file
	Args        []string         `json:"args"`    // with the names that files have in the folder of a task
	Fingerprint runs.Fingerprint `json:"fingerprint"`
	Canary      canary           `json:"canary"`
	Tasks       [][]string       `json:"tasks"` // keys of the runs of each
}

// A canary is a run whose result is known.
type canary struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"` // of the result
}

// readManifest reads the manifest in the folder of a task.
func readManifest(folder string) (*manifest, error) {
	text, err := os.ReadFile(filepath.Join(folder, manifestName))
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if !isProgram(m.Program) || m.Canary.Key == "" || len(m.Tasks) == 0 {
		return nil, errors.New(manifestName + ": want a program, a canary and tasks")
	}
	return &m, nil
}

// most is the number of tasks of a job that is not exceeded by much: more runs make larger tasks.
const most = 20_000

// group puts runs together, in their order, in tasks of at least so many seconds and at most twice the number [most], and returns
// the keys and the expected seconds of each. rate is the seconds that a unit of cost takes.
func group(list []runs.Task, rate float64, least time.Duration) (keys [][]string, works []float64) {
	all := 0.0
	for _, t := range list {
		all += t.Cost * rate
	}
	enough := max(least.Seconds(), all/most)
	number := (len(list) + most - 1) / most // of runs in a task, at least: costs may be 0
	open := false
	for _, t := range list {
		if !open {
			keys, works = append(keys, nil), append(works, 0)
		}
		last := len(keys) - 1
		keys[last] = append(keys[last], t.Key)
		works[last] += t.Cost * rate
		open = works[last] < enough || len(keys[last]) < number
	}
	return keys, works
}

// attempts is how often a task is tried. Workers that are not fit for a job refuse its tasks, which is to leave it some for
// those that are.
const attempts = 100

// newJob returns the job of a manifest, with a random name. inputs are the digests of its files by their names.
func newJob(m *manifest, q Queue, works []float64, inputs map[string]string) wire.Job {
	for i := range works {
		works[i] = max(works[i], 1e-6)
	}
	return wire.Job{Name: "sweep-" + rand.Text(), Tasks: len(works), Works: works, Attempts: attempts,
		Priority: q.Priority, DeadlineIn: q.DeadlineIn, MaxWorkers: q.MaxWorkers,
		Run: wire.Run{Kind: Kind, Program: m.Program, Inputs: inputs}}
}
