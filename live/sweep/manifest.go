package sweep

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"productform/internal/cli"
	"productform/live/wire"
)

// Kind is the kind of the tasks.
const Kind = "sweep"

// manifestName is the name of the input that holds a [manifest].
const manifestName = "sweep.json"

// A manifest describes the tasks of a job.
type manifest struct {
	Program     string          `json:"program"` // pfq or figures
	SHA256      string          `json:"sha256"`  // SHA-256 of the program file
	Args        []string        `json:"args"`    // with file names as in the folder of a task
	Fingerprint cli.Fingerprint `json:"fingerprint"`
	Canary      canary          `json:"canary"`
	Tasks       [][]string      `json:"tasks"` // keys of the runs, by task
}

// A canary is a run with a known result.
type canary struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"` // SHA-256 of the result
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

// maxTasks is the approximate maximum number of tasks of a job: more runs give larger tasks.
const maxTasks = 20_000

// group combines consecutive runs into at most 2 maxTasks tasks of at least the duration least. It
// returns the keys and the expected seconds of each task. rate is the number of seconds per unit of
// cost.
func group(list []cli.Task, rate float64, least time.Duration) (keys [][]string, works []float64) {
	all := 0.0
	for _, t := range list {
		all += t.Cost * rate
	}
	enough := max(least.Seconds(), all/maxTasks)
	number := (len(list) + maxTasks - 1) / maxTasks // minimum runs per task, since costs may be 0
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

// attempts is the maximum number of attempts at a task. Workers that are unfit for a job refuse its
// tasks, which must leave enough attempts for the others.
const attempts = 100

// newJob returns the job of a manifest, with a random name. inputs are the digests of its files by
// name.
func newJob(m *manifest, q Queue, works []float64, inputs map[string]string) wire.Job {
	for i := range works {
		works[i] = max(works[i], 1e-6)
	}
	return wire.Job{Name: "sweep-" + rand.Text(), Tasks: len(works), Works: works, Attempts: attempts,
		Priority: q.Priority, DeadlineIn: q.DeadlineIn, MaxWorkers: q.MaxWorkers,
		Run: wire.Run{Kind: Kind, Program: m.Program, Inputs: inputs}}
}
