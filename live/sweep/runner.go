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

	"productform/live/worker"
)

// A Runner does tasks of the kind sweep for the slots of a worker. It keeps the child of a slot until that has a task of
// another job, or Close ends it.
type Runner struct {
	programs map[string]string // files of pfq and figures
	ctx      context.Context
	stop     context.CancelFunc

	mu    sync.Mutex
	slots map[string]*slot
}

// A slot does one task at a time.
type slot struct {
	manifest string // digest of that of its child
	child    *child // nil for none
	refused  error  // why it does no tasks of the job
}

// NewRunner returns a runner for files of programs by their names, pfq and figures, such as [Beside] returns. While a child runs,
// there is a record of its process group beside the folders of tasks, by which a worker kills what an earlier start of it has left.
func NewRunner(programs map[string]string) *Runner {
	r := &Runner{programs: programs, slots: map[string]*slot{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Beside returns the files of pfq and figures that are in the folder of this program, by their names.
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

// Close ends all children. No task is under way then, and none comes.
func (r *Runner) Close() {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slots {
		s.end()
	}
}

// end ends the child, if there is one.
func (s *slot) end() {
	if s.child != nil {
		_ = s.child.close() // it was killed
		s.child = nil
	}
}

// pause is how long a slot that is not fit for a job keeps each of its tasks, so that others get them.
const pause = time.Second

// Handle does a task; it is a [worker.Handler]. The result is lines of --tasks serve, one for each run. The error says why the
// worker is not fit for the job, or which run failed.
func (r *Runner) Handle(ctx context.Context, t worker.Task) ([]byte, error) {
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
		if err := r.begin(ctx, s, m, t.Folder); err != nil {
			return nil, err
		}
	}
	var lines bytes.Buffer
	for _, key := range m.Tasks[t.Number] {
		a, err := s.child.do(ctx, key)
		if err != nil {
			s.end() // whatever it was, the next task begins anew
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

// begin starts the child of a slot, and sees whether it is fit for the job.
func (r *Runner) begin(ctx context.Context, s *slot, m *manifest, folder string) error {
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
		s.refused = fmt.Errorf("refused: %s has the SHA-256 %s, that of the job is %s", path, digest, m.SHA256)
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
		s.refused = fmt.Errorf("refused: the fingerprint of this worker is %+v, that of the job is %+v", c.fingerprint, m.Fingerprint)
	} else if a, err := c.do(ctx, m.Canary.Key); err != nil {
		s.end()
		return err
	} else if a.SHA256 != m.Canary.SHA256 {
		s.refused = fmt.Errorf("refused: the result of run %s here has the SHA-256 %s, that of the job is %s", m.Canary.Key[:8], a.SHA256, m.Canary.SHA256)
	}
	if s.refused != nil {
		s.end()
	}
	return s.refused
}
