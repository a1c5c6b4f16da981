package sweep

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"productform/internal/cli"
	"productform/internal/input"
)

// programs are the programs whose runs can be shared.
var programs = []string{"pfq", "figures"}

func isProgram(name string) bool { return slices.Contains(programs, name) }

// A Command is the command line of a simulation.
type Command struct {
	name    string   // pfq or figures
	path    string   // path of the program file
	sha256  string   // SHA-256 of the program file
	args    []string // as given
	there   []string // with file names as in the folder of a task
	files   map[string]string
	results string
}

// NewCommand returns the command line, whose results are kept in a folder. The first word is the
// path of pfq or figures, or its name if it is in PATH. Workers get the contents of files that
// arguments name, also as file:PATH or swf:PATH. Options for the output are not sent to workers.
func NewCommand(words []string, results string) (*Command, error) {
	if results == "" {
		return nil, &input.Error{Path: "results", Want: "a folder for the results of runs"}
	}
	if len(words) == 0 {
		return nil, &input.Error{Path: "COMMAND", Want: "pfq or figures with arguments"}
	}
	c := &Command{
		name:    strings.TrimSuffix(filepath.Base(words[0]), ".exe"),
		args:    words[1:],
		files:   map[string]string{},
		results: results,
	}
	if !isProgram(c.name) {
		return nil, input.Errorf("COMMAND", words[0], "pfq or figures")
	}
	for _, arg := range c.args {
		flag, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "-":
			return nil, input.Errorf("COMMAND", arg, "the name of a file, because the command runs several times")
		case flag == "--results":
			return nil, input.Errorf("COMMAND", arg, "--results before COMMAND")
		case flag == "--part" || flag == "--tasks":
			return nil, input.Errorf("COMMAND", arg, "a command that prints an answer")
		}
	}
	found, err := exec.LookPath(words[0])
	if err != nil {
		return nil, err
	}
	if c.path, err = filepath.Abs(found); err != nil {
		return nil, err
	}
	if c.sha256, err = fileDigest(c.path); err != nil {
		return nil, err
	}
	isOutput := false // this argument is the value of an output flag
	for _, arg := range c.args {
		there := arg
		switch flag, _, attached := strings.Cut(arg, "="); {
		case isOutput:
			there = "output" // workers write no answer
		case attached && flag == "--output":
			there = "--output=output"
		case arg == "--output" || arg == "-o":
		default:
			there = c.workerArgument(arg)
		}
		isOutput = !isOutput && (arg == "--output" || arg == "-o")
		if isOutside(there) { // workers would refuse it
			return nil, input.Errorf("COMMAND", arg, "existing files, and no other paths of this machine")
		}
		c.there = append(c.there, there)
	}
	return c, nil
}

// workerArgument returns an argument as workers get it. If it names a file, it is replaced by a
// unique file name without folders.
func (c *Command) workerArgument(arg string) string {
	head, path := "", arg
	if flag, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(flag, "-") {
		head, path = flag+"=", value
	}
	for _, scheme := range []string{"file:", "swf:"} {
		if rest, ok := strings.CutPrefix(path, scheme); ok {
			head, path = head+scheme, rest
			break
		}
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return arg
	}
	for name, known := range c.files {
		if known == path {
			return head + name
		}
	}
	name := strconv.Itoa(len(c.files)) + "-" + plain(filepath.Base(path))
	c.files[name] = path
	return head + name
}

// copyTo copies the files to a folder, under the names that workers use.
func (c *Command) copyTo(folder string) error {
	for name, path := range c.files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// isOutside reports whether an argument may name a file outside the folder of a task.
func isOutside(arg string) bool {
	if flag, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(flag, "-") {
		arg = value
	}
	for _, scheme := range []string{"file:", "swf:"} {
		arg = strings.TrimPrefix(arg, scheme)
	}
	return filepath.IsAbs(arg) || strings.Contains(arg, "..")
}

// plain returns a file name that messages accept. A long name is shortened to its end, which shows
// the format.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r) {
			return r
		}
		return '_'
	}, name)
	return name[max(0, len(name)-48):]
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// list returns the runs that are missing in the folder of results, and the fingerprint of the
// program.
func (c *Command) list(ctx context.Context) (f cli.Fingerprint, missing []cli.Task, err error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(
		ctx, c.path, slices.Concat(c.args, []string{"--results", c.results, "--tasks", cli.List})...,
	)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return f, nil, failed(ctx, err, said.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &f) != nil || f.Go == "" {
		return f, nil, fmt.Errorf("%s --tasks list printed no fingerprint", c.name)
	}
	for lines.Scan() {
		var t cli.Task
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil || t.Key == "" || !(t.Cost >= 0) {
			return f, nil, fmt.Errorf("%s --tasks list printed %q", c.name, lines.Text())
		}
		missing = append(missing, t)
	}
	return f, missing, lines.Err()
}

// failed returns the error of a failed program, with its last output on one line.
func failed(ctx context.Context, err error, said string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if said = strings.TrimSpace(said); errors.As(err, &exit) && said != "" {
		lines := strings.Split(said, "\n")
		return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return err
}

// A StatusError reports that the command itself failed with a nonzero exit status. It has printed
// the reason.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the command ended with status %d", e.Status)
}

// answer runs the command itself.
func (c *Command) answer(ctx context.Context, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, c.path, slices.Concat(c.args, []string{"--results", c.results})...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return &StatusError{exit.ExitCode()}
	}
	return err
}
