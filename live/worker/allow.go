package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"productform/internal/file"
	"productform/internal/input"
	"productform/live/wire"
)

// Allow is an allow-list: the programs that a worker runs for jobs of kind command, by the names
// that jobs use.
type Allow map[string]Program

// A Program is a file that a worker may run.
type Program struct {
	Path   string // absolute
	SHA256 string // digest of the file in 64 hexadecimal digits, checked before each run; empty for any file

	// Args are the arguments. The words {job}, {task} and {attempt} stand for the values of the
	// task, and {folder} for its folder. An argument {args} stands for all arguments that the job
	// gives. Without it, jobs cannot give any.
	Args []string

	Seconds float64 // time limit of the program with all its child processes; 0 for the limit of the job only
}

// ReadAllowFile reads an allow-list from a file. The file is JSON if its name ends in .json, and
// YAML if it ends in .yaml or .yml; otherwise its first character decides:
//
//	allow:
//	  bill: {path: /opt/bill, sha256: 9f86d0..., args: [--user, "{task}"], seconds: 60}
//
// Only path is required. The error starts with the name of the file and wraps a *[num.SyntaxError]
// or a *[num.InputError] with the line.
func ReadAllowFile(name string) (Allow, error) {
	a, err := file.ReadFile(name, readAllow)
	if err != nil {
		return nil, err
	}
	return *a, nil
}

func readAllow(r io.Reader, format file.Format) (*Allow, error) {
	root, err := file.Read(r, format, "an object with allow")
	if err != nil {
		return nil, err
	}
	a, err := decodeAllow(root)
	if err != nil {
		return nil, root.Locate(err)
	}
	return &a, nil
}

func decodeAllow(root *file.Node) (Allow, error) {
	f, err := root.Fields("", "an object with allow", "allow")
	if err != nil {
		return nil, err
	}
	names, values, err := f["allow"].Entries("allow", "an object with programs by their names")
	if err != nil {
		return nil, err
	}
	a := make(Allow, len(names))
	for i, name := range names {
		path := input.Field("allow", name)
		if err := wire.CheckName(path, name); err != nil {
			return nil, err
		}
		p, err := decodeProgram(&values[i], path)
		if err == nil {
			err = p.check(path)
		}
		if err != nil {
			return nil, root.AsWritten(err)
		}
		a[name] = p
	}
	return a, nil
}

func decodeProgram(n *file.Node, path string) (p Program, err error) {
	f, err := n.Fields(path, "an object with path", "path", "sha256", "args", "seconds")
	if err != nil {
		return p, err
	}
	if p.Path, err = f["path"].Name(path + ".path"); err != nil {
		return p, err
	}
	if f["sha256"] != nil {
		if p.SHA256, err = f["sha256"].Name(path + ".sha256"); err != nil {
			return p, err
		}
	}
	if f["args"] != nil {
		list, err := f["args"].Elements(path+".args", "an array of strings")
		if err != nil {
			return p, err
		}
		for i := range list {
			if k := list[i].Kind; k != file.TextKind && k != file.NumberKind {
				return p, input.Errorf(input.Index(path+".args", i), &list[i], "a string in quotes, or a number")
			}
			p.Args = append(p.Args, strings.Clone(list[i].Text))
		}
	}
	if f["seconds"] != nil {
		x, err := f["seconds"].Rat(path+".seconds", input.Positive)
		if err != nil {
			return p, err
		}
		if p.Seconds, _ = x.Float64(); p.Seconds == 0 {
			return p, input.Errorf(path+".seconds", f["seconds"], input.Positive)
		}
	}
	return p, nil
}

// check rejects a program that cannot be run.
func (p *Program) check(path string) error {
	if !filepath.IsAbs(p.Path) {
		return input.Errorf(path+".path", strconv.Quote(p.Path), "an absolute path")
	}
	if digest, err := hex.DecodeString(p.SHA256); p.SHA256 != "" &&
		(err != nil || len(digest) != sha256.Size || strings.ToLower(p.SHA256) != p.SHA256) {
		return input.Errorf(path+".sha256", strconv.Quote(p.SHA256), "64 digits 0-9 a-f")
	}
	for i, arg := range p.Args {
		for _, word := range placeholder.FindAllString(arg, -1) {
			if !slices.Contains(placeholders, word) || word == "{args}" && arg != word {
				return input.Errorf(input.Index(path+".args", i), strconv.Quote(arg),
					"an argument in which words in braces are {job}, {task}, {attempt} or {folder}, or the "+
						"argument {args}")
			}
		}
	}
	if !input.IsTime(p.Seconds) {
		return input.Errorf(path+".seconds", p.Seconds, "a number in (0, 1e50]")
	}
	return nil
}

var (
	placeholder  = regexp.MustCompile(`\{[a-z]+\}`)
	placeholders = []string{"{job}", "{task}", "{attempt}", "{folder}", "{args}"}
)

// arguments returns the arguments of the program for a task.
func (p *Program) arguments(t *wire.Task) ([]string, error) {
	words := strings.NewReplacer("{job}", t.Job, "{task}", strconv.Itoa(t.Number), "{attempt}", strconv.Itoa(t.Attempt),
		"{folder}", t.Folder)
	args := []string{}
	taken := len(t.Run.Args) == 0
	for _, arg := range p.Args {
		if arg == "{args}" {
			args, taken = append(args, t.Run.Args...), true
		} else {
			args = append(args, words.Replace(arg))
		}
	}
	if !taken {
		return nil, fmt.Errorf("program %s takes no arguments from jobs", t.Run.Program)
	}
	return args, nil
}

// verify returns an error if the file differs from the allowed one.
func (p *Program) verify() error {
	if p.SHA256 == "" {
		return nil
	}
	f, err := os.Open(p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if found := hex.EncodeToString(h.Sum(nil)); found != p.SHA256 {
		return fmt.Errorf("%s has SHA-256 %s, which differs from the allow-list", p.Path, found)
	}
	return nil
}
