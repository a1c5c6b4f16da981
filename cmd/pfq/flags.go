package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/internal/cli"
	"productform/cmd/internal/render"
	"productform/internal/input"
	"productform/internal/tree"
	"productform/num"
)

func addFormat(cmd *cobra.Command, format *string) {
	cli.AddChoice(cmd, format, "format", render.Formats, "form of the answer")
}

// readModel reads the model in the file, or on the standard input if the name is "-".
func readModel(name string, stdin io.Reader) (*cluster.Model, error) {
	var m *cluster.Model
	var err error
	if name != "-" {
		m, err = cluster.ReadFile(name)
	} else if m, err = cluster.Read(stdin); err != nil {
		err = tree.InFile(source(name), err)
	}
	return m, meantFor(err, "allocate", "resources", "jobs")
}

// source returns the name that errors give to a MODEL.
func source(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func addOutput(cmd *cobra.Command, file *string) {
	cli.AddText(cmd, file, "output", "o", "the name of a file, or - for the standard output",
		"write the answer to `FILE`, whole or not at all, instead of the standard output (-)")
}

// addNumber adds a flag that takes the numbers that are good.
func addNumber(cmd *cobra.Command, target *float64, name, standard, want, usage string, good func(float64) bool) {
	cli.Flag[float64]{Name: name, Kind: "float", Usage: usage, Default: standard, Want: want,
		Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && good(v)
		}}.Add(cmd, target)
}

func parseInt(most int) func(string) (int, bool) { return parseIntFrom(1, most) }

func parseIntFrom(least, most int) func(string) (int, bool) {
	return func(text string) (int, bool) {
		v, err := strconv.Atoi(text)
		return v, err == nil && v >= least && v <= most
	}
}

func parseTolerance(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 1e-300 && v < 1
}

// addScale adds --scale, a list of factors and of ranges of factors.
func addScale(cmd *cobra.Command, target *[]*big.Rat, usage string) {
	cli.Flag[[]*big.Rat]{Name: "scale", Usage: usage,
		Want: fmt.Sprintf("numbers >= 0 or ranges FROM:TO:STEP, separated by commas, %d numbers at most", mostFactors), Parse: parseFactors}.Add(cmd, target)
}

const mostFactors = 10_000

// parseFactors reads numbers and ranges FROM:TO:STEP: FROM, FROM+STEP, ... up to TO, exactly.
func parseFactors(text string) (factors []*big.Rat, ok bool) {
	for word := range strings.SplitSeq(text, ",") {
		var bounds []*big.Rat
		for part := range strings.SplitSeq(word, ":") {
			v, err := num.ParseRat(part)
			if err != nil || v.Sign() < 0 {
				return nil, false
			}
			bounds = append(bounds, v)
		}
		switch {
		case len(bounds) == 1:
			factors = append(factors, bounds[0])
		case len(bounds) != 3 || bounds[2].Sign() == 0 || bounds[0].Cmp(bounds[1]) > 0:
			return nil, false
		default:
			for v := bounds[0]; v.Cmp(bounds[1]) <= 0 && len(factors) <= mostFactors; v = new(big.Rat).Add(v, bounds[2]) {
				factors = append(factors, v)
			}
		}
		if len(factors) > mostFactors {
			return nil, false
		}
	}
	return factors, true
}

// An output is a text for a file, or for the standard output.
type output struct {
	text []byte
	file string // empty or - for the standard output
}

func (o output) toStdout() bool { return o.file == "" || o.file == "-" }

// write writes the answer to the standard output, or to the file if one is named.
func write(answer []byte, file string, stdout io.Writer) error {
	return writeAll(stdout, output{answer, file})
}

// writeAll writes the answer once all other outputs are written: one that cannot be written leaves no answer behind.
// Of the others those for terminals, pipes and devices come first. Files appear whole, and all at once.
func writeAll(stdout io.Writer, answer output, others ...output) error {
	var files []output
	var first, last []stream
	for i, o := range append(others, answer) {
		if info, err := os.Stat(o.file); !o.toStdout() && (err != nil || info.Mode().IsRegular()) {
			files = append(files, o)
			continue
		}
		s := stream{o, stdout}
		if !o.toStdout() {
			special, err := os.OpenFile(o.file, os.O_WRONLY, 0) // a directory is an error
			if err != nil {
				return aboutFile(o.file, err)
			}
			defer special.Close()
			s.to = special
		}
		if i < len(others) {
			first = append(first, s)
		} else {
			last = append(last, s)
		}
	}
	if err := writeStreams(first); err != nil {
		return err
	}
	if err := writeFiles(files); err != nil {
		return err
	}
	return writeStreams(last)
}

// A stream is an output that cannot be taken back.
type stream struct {
	output
	to io.Writer
}

func writeStreams(streams []stream) error {
	for _, s := range streams {
		if _, err := s.to.Write(s.text); err != nil {
			return aboutFile(s.file, err)
		}
	}
	return nil
}

// writeFiles writes temporary files beside those named, and renames them once all are there, so that nobody ever sees
// half an answer, nor one file without the others.
func writeFiles(files []output) (err error) {
	type renaming struct{ from, to string }
	var list []renaming
	interrupted := make(chan os.Signal, 1) // signals wait until the files are whole
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer func() {
		if err != nil {
			for _, r := range list {
				os.Remove(r.from)
			}
		}
		signal.Stop(interrupted)
	}()
	for _, o := range files {
		target := o.file
		if linked, err := filepath.EvalSymlinks(target); err == nil {
			target = linked
		}
		temporary := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d.tmp", filepath.Base(target), os.Getpid()))
		list = append(list, renaming{temporary, target})
		if err := os.WriteFile(temporary, o.text, 0o666); err != nil {
			return aboutFile(o.file, err)
		}
	}
	for i, r := range list {
		if err := os.Rename(r.from, r.to); err != nil {
			return aboutFile(files[i].file, err)
		}
	}
	return nil
}

// aboutFile gives the error the name of the file in place of that which the system tells, of a temporary one perhaps.
func aboutFile(file string, err error) error {
	if file == "" || file == "-" {
		return err
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// notInput refuses the file that a flag names for an answer if it is the one that is read, under any name.
func notInput(flag, file, from string, stdin io.Reader) error {
	var same bool
	if from == "-" {
		same = isStream(file, stdin)
	} else if written, err := os.Stat(file); err == nil && written.Mode().IsRegular() {
		read, err := os.Stat(from)
		same = err == nil && os.SameFile(read, written)
	}
	if same {
		return input.Errorf(flag, file, "a file other than the one that is read")
	}
	return nil
}

// isStream reports whether the file is a regular one to which the standard input or output is redirected.
func isStream(file string, stream any) bool {
	s, ok := stream.(*os.File)
	if !ok {
		return false
	}
	named, errNamed := os.Stat(file)
	open, errOpen := s.Stat()
	return errNamed == nil && errOpen == nil && named.Mode().IsRegular() && os.SameFile(named, open)
}

// sameFile reports whether two names are of one file, which need not be there yet.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	return errA != nil && errB != nil && wholePath(a) == wholePath(b)
}

// wholePath returns the path from the root, with links to folders followed.
func wholePath(file string) string {
	folder := filepath.Dir(file)
	if linked, err := filepath.EvalSymlinks(folder); err == nil {
		folder = linked
	}
	path := filepath.Join(folder, filepath.Base(file))
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return path
}
