package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"productform/live/wire"
)

// A Runner executes tasks of kind sweep for the slots of a worker. It keeps the child of a slot
// until the slot gets a task of another job, or Close stops it.
type Runner struct {
	programs map[string]string // paths of pfq and figures
	ctx      context.Context
	stop     context.CancelFunc

	mu    sync.Mutex
	slots map[string]*slot
}

// A slot executes one task at a time.
type slot struct {
	manifest string // digest of the manifest of its child
	child    *child // nil for none
	refused  error  // why it refuses the tasks of the job
}

// NewRunner returns a runner for programs by name, pfq and figures, such as those from [Beside].
// While a child runs, a record of its process group is kept next to the folders of tasks. A
// restarted worker uses it to kill leftover processes.
func NewRunner(programs map[string]string) *Runner {
	r := &Runner{programs: programs, slots: map[string]*slot{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Beside returns the paths of pfq and figures in the folder of this program, by name.
func Beside() (map[string]string, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	for _, name := range programs {
		path := filepath.Join(filepath.Dir(own), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			found[name] = path
		}
	}
	return found, nil
}

// Close stops all children. No task may be running, and none may follow.
func (r *Runner) Close() {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slots {
		s.end()
	}
}

// end stops the child, if there is one.
func (s *slot) end() {
	if s.child != nil {
		_ = s.child.close() // it was killed
		s.child = nil
	}
}

// pause is the time for which a slot that is unfit for a job holds each of its tasks, so other
// workers get them.
const pause = time.Second

// Handle executes a task; it is a [worker.Handler]. The result has the lines of --tasks serve, one
// per run. The error says why the worker is unfit for the job, or which run failed.
func (r *Runner) Handle(ctx context.Context, t wire.Task) ([]byte, error) {
	m, err := readManifest(t.Folder)
	if err != nil {
		return nil, err
	}
	if t.Number >= len(m.Tasks) {
		return nil, fmt.Errorf("%s: task %d of %d", manifestName, t.Number, len(m.Tasks))
	}
	r.mu.Lock()
	s := r.slots[t.Worker]
	if s == nil {
		s = &slot{}
		r.slots[t.Worker] = s
	}
	r.mu.Unlock()
	if digest := t.Run.Inputs[manifestName]; s.manifest != digest {
		s.end()
		*s = slot{manifest: digest}
	}
	if s.refused != nil {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return nil, s.refused
	}
	if s.child == nil {
		if err := r.startChild(ctx, s, m, t.Folder); err != nil {
			return nil, err
		}
	}
	var lines bytes.Buffer
	for _, key := range m.Tasks[t.Number] {
		a, err := s.child.do(ctx, key)
		if err != nil {
			s.end() // after any failure, the next task starts a new child
			return nil, err
		}
		text, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		lines.Write(append(text, '\n'))
	}
	return lines.Bytes(), nil
}

// startChild starts the child of a slot and checks whether it is fit for the job.
func (r *Runner) startChild(ctx context.Context, s *slot, m *manifest, folder string) error {
	path := r.programs[m.Program]
	if path == "" {
		s.refused = fmt.Errorf("refused: this worker has no program %s", m.Program)
		return s.refused
	}
	digest, err := fileDigest(path)
	if err != nil {
		return err
	}
	if digest != m.SHA256 {
		s.refused = fmt.Errorf("refused: %s has SHA-256 %s, but the job needs %s", path, digest, m.SHA256)
		return s.refused
	}
	for _, arg := range m.Args {
		if isOutside(arg) {
			s.refused = fmt.Errorf("refused: the argument %q may name a file of this machine", arg)
			return s.refused
		}
	}
	c, err := serve(ctx, r.ctx, path, m.Args, folder, filepath.Dir(folder))
	if err != nil {
		return err
	}
	s.child = c
	if c.fingerprint != m.Fingerprint {
		s.refused = fmt.Errorf("refused: the fingerprint of this worker is %+v, but the job needs %+v",
			c.fingerprint, m.Fingerprint)
	} else if a, err := c.do(ctx, m.Canary.Key); err != nil {
		s.end()
		return err
	} else if a.SHA256 != m.Canary.SHA256 {
		s.refused = fmt.Errorf("refused: the result of run %s here has SHA-256 %s, but the job needs %s",
			m.Canary.Key[:8], a.SHA256, m.Canary.SHA256)
	}
	if s.refused != nil {
		s.end()
	}
	return s.refused
}
