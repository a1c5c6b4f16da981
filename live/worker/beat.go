package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"productform/live/wire"
)

// minBeat is the minimum time between two beats of a worker. Changes in between share a beat.
const minBeat = 10 * time.Millisecond

// beats sends heartbeats until ctx is done: periodically, and after each change.
func (s *slot) beats(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		case <-s.changed:
		}
		s.beat()
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(minBeat, s.settings.Beat)):
		}
		next.Reset(s.settings.Beat)
	}
}

// beat sends a heartbeat unless the connection is broken: a delayed beat would be outdated on
// arrival.
func (s *slot) beat() {
	if !s.nc.IsConnected() {
		return
	}
	b := s.state()
	data, err := wire.Encode(b)
	if err == nil {
		err = s.nc.Publish(wire.BeatOf(s.name), data)
	}
	if err != nil && !s.nc.IsClosed() {
		s.log.Warn("heartbeat not sent", "error", err)
	}
}

// state returns the current state of the worker.
func (s *slot) state() *wire.Beat {
	b := &wire.Beat{
		Version: wire.Version, Worker: s.name, Speed: s.settings.Speed, Program: s.settings.Version,
	}
	b.Clock = s.clock()
	s.facts.tell(b, s.folder, s.settings.Beat)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Process, b.Leaving, b.Running = s.process, s.leaving, s.running
	if s.wanted != nil {
		b.Plan = s.wanted.Plan
	}
	if o := s.hand; o != nil {
		b.Job, b.Task, b.Attempt, b.Token = o.Job, o.Task, o.Attempt, o.Token
	}
	return b
}

// facts holds the information that the workers of a process have about their machine.
type facts struct {
	mu           sync.Mutex
	custom       map[string]any // output of the command
	load         float64
	memory, disk int64
	read         time.Time // when load, memory and disk were measured
}

// tell copies the facts into a beat. It measures load, memory and disk again after a while.
func (f *facts) tell(b *wire.Beat, folder string, while time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.read) >= while {
		f.load, f.memory, f.disk = machine(folder)
		f.read = time.Now()
	}
	b.Facts, b.Load, b.Memory, b.Disk = f.custom, f.load, f.memory, f.disk
}

// factsPause is the time between two runs of the facts command, and its time limit.
const factsPause = 5 * time.Second

// watch runs the facts command repeatedly until ctx is done. If it fails, there are no facts.
func (f *facts) watch(ctx context.Context, s *Settings) {
	for {
		now, err := ask(ctx, s.Facts)
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("no facts", "command", s.Facts[0], "error", err)
		}
		f.mu.Lock()
		f.custom = now
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(factsPause):
		}
	}
}

// ask runs the facts command.
func ask(ctx context.Context, command []string) (map[string]any, error) {
	const most = 4 << 10
	ctx, cancel := context.WithTimeout(ctx, factsPause)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	out := &tail{most: most}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	if len(out.data) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	var now map[string]any
	if err := json.Unmarshal(out.data, &now); err != nil {
		return nil, errors.Join(errors.New("not a JSON object"), err)
	}
	beat := wire.Beat{Version: wire.Version, Worker: "w", Process: "p", Speed: 1, Facts: now}
	if err := beat.Check(); err != nil {
		return nil, err // such facts cannot be sent
	}
	return now, nil
}
