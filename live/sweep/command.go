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

	"productform/internal/input"
	"productform/internal/runs"
)

// Programs are those whose runs can be shared.
var programs = []string{"pfq", "figures"}

func isProgram(name string) bool { return slices.Contains(programs, name) }

// A Command is a command line that simulates.
type Command struct {
	name    string   // pfq or figures
	path    string   // of the file
	sha256  string   // of its content
	args    []string // as given
	there   []string // with the names that files have in the folder of a task
	files   map[string]string
	results string
}

// NewCommand returns the command line, whose results are kept in a folder. The first word is the file of pfq or figures, or its
// name in the path. Arguments that name files, also as file:PATH and swf:PATH, stand for their contents, which workers get; where
// the answer goes they are not told.
func NewCommand(words []string, results string) (*Command, error) {
	if results == "" {
		return nil, &input.Error{Path: "results", Want: "a folder, in which runs are kept"}
	}
	if len(words) == 0 {
		return nil, &input.Error{Path: "COMMAND", Want: "pfq or figures with arguments"}
	}
	c := &Command{name: strings.TrimSuffix(filepath.Base(words[0]), ".exe"), args: words[1:], files: map[string]string{}, results: results}
	if !isProgram(c.name) {
		return nil, input.Errorf("COMMAND", words[0], "pfq or figures")
	}
	for _, arg := range c.args {
		flag, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "-":
			return nil, input.Errorf("COMMAND", arg, "the name of a file: the command runs several times")
		case flag == "--results":
			return nil, input.Errorf("COMMAND", arg, "--results before COMMAND")
		case flag == "--part" || flag == "--tasks":
			return nil, input.Errorf("COMMAND", arg, "a command that answers")
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
	isOutput := false // an argument, since that before it is the flag
	for _, arg := range c.args {
		there := arg
		switch flag, _, attached := strings.Cut(arg, "="); {
		case isOutput:
			there = "output" // workers write no answer
		case attached && flag == "--output":
			there = "--output=output"
		case arg == "--output" || arg == "-o":
		default:
			there = c.elsewhere(arg)
		}
		isOutput = !isOutput && (arg == "--output" || arg == "-o")
		if isOutside(there) { // workers would refuse it
			return nil, input.Errorf("COMMAND", arg, "arguments that name files which are there, and no others of this machine")
		}
		c.there = append(c.there, there)
	}
	return c, nil
}

// elsewhere returns an argument as workers get it. If it names a file, that gets a name without folders, which no other file has.
func (c *Command) elsewhere(arg string) string {
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

// copyTo puts the files into a folder, as workers get them.
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

// isOutside reports whether an argument may name a file that is not in the folder of a task.
func isOutside(arg string) bool {
	if flag, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(flag, "-") {
		arg = value
	}
	for _, scheme := range []string{"file:", "swf:"} {
		arg = strings.TrimPrefix(arg, scheme)
	}
	return filepath.IsAbs(arg) || strings.Contains(arg, "..")
}

// plain returns a name of a file without what messages do not take, and its end if it is long: that tells the format.
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

// list returns the runs that are missing in the folder of results, and the fingerprint of the program.
func (c *Command) list(ctx context.Context) (f runs.Fingerprint, missing []runs.Task, err error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, c.path, slices.Concat(c.args, []string{"--results", c.results, "--tasks", runs.List})...)
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
		var t runs.Task
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil || t.Key == "" || !(t.Cost >= 0) {
			return f, nil, fmt.Errorf("%s --tasks list printed %q", c.name, lines.Text())
		}
		missing = append(missing, t)
	}
	return f, missing, lines.Err()
}

// failed returns the error of a program that ended with one: what it said, on one line.
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

// A StatusError says that the command itself has ended with another exit status than 0. It has said why.
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
