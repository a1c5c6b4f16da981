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

// Settings say what a process of workers is.
type Settings struct {
	Server  string        // its URL, or the file of a key; {name} in it stands for the name of the worker, of which each has a key
	Options []nats.Option // more of them, such as that of a server within the process

	Name  string  // of the worker; with several slots, the workers are NAME-1, NAME-2, ...
	Slots int     // workers of this process; 0 for 1
	Speed float64 // of each; 0 for 1

	Folder   string             // for files of tasks, of this process alone; empty for one that is made and removed again
	Handlers map[string]Handler // by kind of task; sleep and command are built in
	Allow    Allow              // programs of kind command
	AsRoot   bool               // run programs even as root
	Facts    []string           // command that prints a JSON object for the heartbeats, each time it is asked; nil for none

	Beat time.Duration // between heartbeats; 0 for 500 ms
	Pace float64       // seconds of the logical clock of a replay in one of real time; 0 for 1

	Version string          // of the program, for the heartbeats
	Leave   <-chan struct{} // closed: finish the task in hand and leave; nil for never
	Log     *slog.Logger    // nil for none
}

// defaults returns the settings with what zeros stand for.
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
	maxSlots = 1024     // of a process
	slotName = "{name}" // in Server
)

// Check refuses settings that cannot be meant, as [Run] does: the error is an *[num.InputError].
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
	if err := wire.CheckName("name", s.slot(s.Slots)); err != nil { // with its number it may be too long
		return err
	}
	if !strings.Contains(s.Server, "://") && !strings.Contains(s.Server, slotName) && s.Server != "" && s.Slots > 1 {
		return input.Errorf("server", strconv.Quote(s.Server), "the file of a key for each slot, with {name} for the name of the worker")
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
			return input.Errorf("handlers", strconv.Quote(kind), "a kind that is not built in")
		}
	}
	return s.checkUser(os.Geteuid())
}

// checkUser refuses to run programs for others as root unless that is insisted on. user is -1 where there are no numbers.
func (s *Settings) checkUser(user int) error {
	if user == 0 && len(s.Allow) > 0 && !s.AsRoot {
		return input.Errorf("as_root", false, "true, if programs are to run as root, or another user than root")
	}
	return nil
}

// slot returns the name of the worker in a slot, from 1.
func (s *Settings) slot(number int) string {
	if s.Slots == 1 {
		return s.Name
	}
	return s.Name + "-" + strconv.Itoa(number)
}
