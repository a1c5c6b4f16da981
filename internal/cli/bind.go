package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"productform/internal/input"
	"productform/num"
)

// A Binding reads the flags of a command straight into the settings of a library, and translates
// the library's errors: it replaces settings by flags.
type Binding struct {
	Cmd      *cobra.Command
	flags    map[string]string     // flag of each setting
	remedies map[num.Remedy]string // flag of each remedy
	maxBytes *int64                // setting of --memory; nil if there is none
}

// Bind returns a binding of no flags.
func Bind(cmd *cobra.Command) *Binding {
	return &Binding{Cmd: cmd, flags: map[string]string{}, remedies: map[num.Remedy]string{}}
}

// A FlagError is an error about a flag rather than a file.
type FlagError struct{ Err error }

func (e FlagError) Error() string { return e.Err.Error() }
func (e FlagError) Unwrap() error { return e.Err }

// Name records the flag that sets a setting or its elements.
func (b *Binding) Name(setting, flag string) { b.flags[setting] = "--" + flag }

// Remedy records the flag of a remedy for models that are too large.
func (b *Binding) Remedy(r num.Remedy, flag string) { b.remedies[r] = "--" + flag }

// Engine adds --engine, by default auto.
func (b *Binding) Engine(engine *num.Engine) {
	Choice(b, engine, "Engine", "engine", []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact}, "arithmetic")
	b.Name("engine", "engine")
}

// Choice adds a flag that takes one of several words, by default the first.
func Choice[T ~string](b *Binding, target *T, setting, flag string, words []T, usage string) {
	AddChoice(b.Cmd, target, flag, words, usage)
	b.Name(setting, flag)
}

// Tol adds --tol, the relative error for the engines auto and enclose, by default
// [num.DefaultRelTol].
func (b *Binding) Tol(tol *float64) {
	*tol = num.DefaultRelTol
	b.Number(
		tol, "RelTol", "tol", fmt.Sprint(*tol), "a number >= 1e-300 and < 1",
		"relative tolerance for the engines auto and enclose", func(v float64) bool { return v >= 1e-300 && v < 1 },
	)
}

// CheckTol rejects --tol with --engine exact, which has no tolerance.
func CheckTol(flags *pflag.FlagSet) error {
	engine := flags.Lookup("engine")
	if engine == nil || engine.Value.String() != string(num.Exact) || !flags.Changed("tol") {
		return nil
	}
	return errors.New("--tol and --engine exact cannot be combined: fractions have no error")
}

// Number adds a flag that takes numbers accepted by good.
func (b *Binding) Number(target *float64, setting, flag, standard, want, usage string, good func(float64) bool) {
	AddNumber(b.Cmd, target, flag, standard, want, usage, good)
	b.Name(setting, flag)
}

// Int adds a flag that takes an integer in 1..most. The default is the target, or unset if the
// target is 0.
func (b *Binding) Int(target *int, setting, flag string, most int, usage string) {
	b.IntFrom(1, target, setting, flag, most, usage)
}

// IntFrom adds a flag like that of Int, for an integer in least..most.
func (b *Binding) IntFrom(least int, target *int, setting, flag string, most int, usage string) {
	standard := ""
	if *target != 0 {
		standard = strconv.Itoa(*target)
	}
	Flag[int]{
		Name:    flag,
		Kind:    "int",
		Usage:   usage,
		Default: standard,
		Want:    fmt.Sprintf("an integer in %d..%d", least, most),
		Parse:   ParseIntFrom(least, most),
	}.Add(b.Cmd, target)
	b.Name(setting, flag)
}

// Switch adds a flag that is off by default.
func (b *Binding) Switch(target *bool, setting, flag, usage string) {
	AddSwitch(b.Cmd, target, flag, usage)
	b.Name(setting, flag)
}

const (
	defaultMemory = num.DefaultMaxBytes >> 20 // MiB
	mostMemory    = 1 << 20                   // MiB
)

// Memory adds --memory, in MiB, which sets a number of bytes, by default [num.DefaultMaxBytes].
func (b *Binding) Memory(maxBytes *int64) {
	*maxBytes = num.DefaultMaxBytes
	Flag[int64]{
		Name:    "memory",
		Usage:   "memory limit for tables, in `MIB` (2^20 bytes); a model that needs more is rejected",
		Default: strconv.Itoa(defaultMemory),
		Want:    fmt.Sprintf("an integer in 1..%d", mostMemory),
		Parse: func(text string) (int64, bool) {
			mib, ok := ParseInt(mostMemory)(text)
			return int64(mib) << 20, ok
		},
	}.Add(b.Cmd, maxBytes)
	b.maxBytes = maxBytes
	b.Name("MaxBytes", "memory")
}

// Translate rewrites an error of the library in terms of the command line. It replaces the setting
// by its flag, with the value that the user wrote, or by the default of the flag if the library
// chose it. For a model that is too large, it adds the flags of remedies, the alternative instead
// ("" for none), and a sufficient --memory. An error about a flag does not change.
func (b *Binding) Translate(err error, instead string) error {
	var bad *input.Error
	var done FlagError
	if !errors.As(err, &bad) || errors.As(err, &done) {
		return err
	}
	want := bad.Want
	var large *num.TooLargeError
	if errors.As(err, &large) {
		if more := large.Remedies(func(r num.Remedy) string { return b.remedies[r] }); more != "" {
			want += "; " + more
		}
		if large.Input.Path == "model" && instead != "" {
			want += "; " + instead
		}
		if need := math.RoundToEven(large.Bytes / (1 << 20)); b.memoryHelps(large, need) {
			want += fmt.Sprintf("; or --memory %.0f, if the machine has as much", need+1)
		}
	}
	setting, index, _ := strings.Cut(bad.Path, "[")
	flag, ok := b.flags[setting]
	if !ok {
		err = &input.Error{Path: bad.Path, Value: bad.Value, Want: want}
		if strings.HasPrefix(setting, "--") {
			return FlagError{err}
		}
		return err
	}
	path, written := flag+bad.Path[len(setting):], ""
	if f := b.Cmd.Flags().Lookup(strings.TrimPrefix(flag, "--")); f != nil {
		if f.Value.String() == "" {
			path = "the default of " + path
		}
		if v, ok := f.Value.(interface{ written(index string) string }); ok {
			written = v.written(index)
		}
	}
	return FlagError{input.Errorf(path, cmp.Or(written, bad.Value), "%s", want)}
}

// memoryHelps reports whether a model that needs the given MiB is rejected only because of
// --memory.
func (b *Binding) memoryHelps(large *num.TooLargeError, need float64) bool {
	return b.maxBytes != nil && large.Limit == *b.maxBytes && need > float64(*b.maxBytes>>20) && need < mostMemory
}
