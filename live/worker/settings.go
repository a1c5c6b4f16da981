package worker

import (
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"productform/internal/input"
	"productform/live/wire"
)

// Settings configure the workers of a process.
type Settings struct {
	Server  string        // URL, or a key file; {name} stands for the name of the worker, each of which has its own key
	Options []nats.Option // more options, such as nats.InProcessServer

	Name  string  // name of the worker; with several slots, the workers are NAME-1, NAME-2, ...
	Slots int     // number of workers in this process; 0 for 1
	Speed float64 // speed of each worker; 0 for 1

	Folder   string             // for files of tasks, used by this process only; empty for a temporary folder
	Handlers map[string]Handler // by kind of task; sleep and command are built in
	Allow    Allow              // programs of kind command
	AsRoot   bool               // run programs even as root
	Facts    []string           // command that prints a JSON object for the heartbeats at each run; nil for none

	Beat time.Duration // time between heartbeats; 0 for 500 ms
	Pace float64       // seconds on the logical clock of a replay per second of real time; 0 for 1

	Version string          // version of the program, for the heartbeats
	Leave   <-chan struct{} // when closed, finish the running task and leave; nil for never
	Log     *slog.Logger    // nil for none
}

// defaults returns the settings with zeros replaced by defaults.
func (s Settings) defaults() Settings {
	if s.Slots == 0 {
		s.Slots = 1
	}
	if s.Speed == 0 {
		s.Speed = 1
	}
	if s.Pace == 0 {
		s.Pace = 1
	}
	if s.Beat == 0 {
		s.Beat = 500 * time.Millisecond
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

const (
	maxSlots = 1024     // per process
	slotName = "{name}" // in Server
)

// Check rejects invalid settings, as [Run] does. The error is an *[num.InputError].
func (s Settings) Check() error {
	s = s.defaults()
	return s.check()
}

func (s *Settings) check() error {
	if err := wire.CheckName("name", s.Name); err != nil {
		return err
	}
	if s.Slots < 1 || s.Slots > maxSlots {
		return input.Errorf("slots", s.Slots, "an integer from 1 to %d", maxSlots)
	}
	if err := wire.CheckName("name", s.slot(s.Slots)); err != nil { // the numbered name may be too long
		return err
	}
	if !strings.Contains(s.Server, "://") && !strings.Contains(s.Server, slotName) && s.Server != "" && s.Slots > 1 {
		return input.Errorf(
			"server", strconv.Quote(s.Server), "a key file per slot, with {name} for the name of the worker",
		)
	}
	if !(s.Speed > 0 && s.Speed <= math.MaxFloat64) {
		return input.Errorf("speed", s.Speed, input.Positive)
	}
	if !(s.Pace > 0 && s.Pace <= math.MaxFloat64) {
		return input.Errorf("pace", s.Pace, input.Positive)
	}
	if s.Beat < time.Millisecond {
		return input.Errorf("beat", s.Beat, "a duration of at least 1ms")
	}
	for kind := range s.Handlers {
		if kind == KindSleep || kind == KindCommand {
			return input.Errorf("handlers", strconv.Quote(kind), "a kind other than the built-in ones")
		}
	}
	return s.checkUser(os.Geteuid())
}

// checkUser refuses to run programs as root unless AsRoot is set. user is -1 on systems without
// user IDs.
func (s *Settings) checkUser(user int) error {
	if user == 0 && len(s.Allow) > 0 && !s.AsRoot {
		return input.Errorf("as_root", false, "true to run programs as root, or a user other than root")
	}
	return nil
}

// slot returns the name of the worker in a slot, counted from 1.
func (s *Settings) slot(number int) string {
	if s.Slots == 1 {
		return s.Name
	}
	return s.Name + "-" + strconv.Itoa(number)
}
