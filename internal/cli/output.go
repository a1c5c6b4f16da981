// This file writes the answer and the other files of a command safely: either all files or none,
// and never over an input.

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"productform/internal/input"
)

// A File is a text for a file, or for the standard output.
type File struct {
	Text []byte
	Name string // empty or - for the standard output
}

func (o File) toStdout() bool { return o.Name == "" || o.Name == "-" }

// Write writes the answer to the standard output, or to the file if one is named.
func Write(answer []byte, file string, stdout io.Writer) error {
	return WriteAll(stdout, File{answer, file})
}

// WriteAll writes the answer after all other outputs, so an output that fails leaves no answer
// behind. Among the others, terminals, pipes and devices come first. Files appear whole, and all at
// once. Nothing is written if a folder is missing.
func WriteAll(stdout io.Writer, answer File, others ...File) error {
	for _, o := range append(others, answer) {
		if err := checkFolder(o.Name); err != nil {
			return err
		}
	}
	var files []File
	var first, last []stream
	for i, o := range append(others, answer) {
		if info, err := os.Stat(o.Name); !o.toStdout() && (err != nil || info.Mode().IsRegular()) {
			files = append(files, o)
			continue
		}
		s := stream{o, stdout}
		if !o.toStdout() {
			special, err := os.OpenFile(o.Name, os.O_WRONLY, 0) // a directory is an error
			if err != nil {
				return aboutFile(o.Name, err)
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

// WriteNew writes a text to a file of this name, which must not exist.
func WriteNew(text []byte, file string) error {
	reserved, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return existsError(file)
	}
	if err != nil {
		return aboutFile(file, err)
	}
	err = reserved.Close()
	if err == nil {
		err = WriteAll(nil, File{text, file})
	}
	if err != nil {
		os.Remove(file)
	}
	return err
}

// CheckNew returns an error if a file of this name exists.
func CheckNew(file string) error {
	if _, err := os.Lstat(file); err == nil {
		return existsError(file)
	}
	return nil
}

func existsError(file string) error { return fmt.Errorf("%s: this file already exists", file) }

// checkFolder returns an error if the folder of a new file is missing.
func checkFolder(file string) error {
	folder := filepath.Dir(file)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the folder %s does not exist", file, folder)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s: %s is not a folder", file, folder)
	}
	return nil
}

// MakeFolder creates the folder that a flag or an argument names, unless it exists.
func MakeFolder(flag, folder string) error {
	err := os.MkdirAll(folder, 0o755)
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return input.Errorf(flag, folder, "the name of a folder, new or not (%v)", pathErr.Err)
	}
	return err
}

// A stream is an output that cannot be undone.
type stream struct {
	File
	to io.Writer
}

func writeStreams(streams []stream) error {
	for _, s := range streams {
		if _, err := s.to.Write(s.Text); err != nil {
			return aboutFile(s.Name, err)
		}
	}
	return nil
}

// writeFiles writes temporary files next to the named ones, and renames them once all are there:
// readers never see half an answer, nor one file without the others.
func writeFiles(files []File) (err error) {
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
		target := o.Name
		if linked, err := filepath.EvalSymlinks(target); err == nil {
			target = linked
		}
		temporary := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d.tmp", filepath.Base(target), os.Getpid()))
		list = append(list, renaming{temporary, target})
		if err := os.WriteFile(temporary, o.Text, 0o666); err != nil {
			return aboutFile(o.Name, err)
		}
	}
	for i, r := range list {
		if err := os.Rename(r.from, r.to); err != nil {
			return aboutFile(files[i].Name, err)
		}
	}
	return nil
}

// aboutFile replaces the file name in an error of the system, which may be that of a temporary
// file, by the name of the file.
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

// Check rejects the file that a flag names for an answer if it is the input file, under any name,
// or if its folder is missing.
func Check(flag, file, from string, stdin io.Reader) error {
	if err := checkFolder(file); err != nil {
		return err
	}
	var same bool
	if from == "-" {
		same = IsStream(file, stdin)
	} else if written, err := os.Stat(file); err == nil && written.Mode().IsRegular() {
		read, err := os.Stat(from)
		same = err == nil && os.SameFile(read, written)
	}
	if same {
		return input.Errorf(flag, file, "a file other than the one that is read")
	}
	return nil
}

// IsStream reports whether the file is a regular one to which the standard input or output is
// redirected.
func IsStream(file string, stream any) bool {
	s, ok := stream.(*os.File)
	if !ok {
		return false
	}
	named, errNamed := os.Stat(file)
	open, errOpen := s.Stat()
	return errNamed == nil && errOpen == nil && named.Mode().IsRegular() && os.SameFile(named, open)
}

// IsSame reports whether two names refer to the same file, which may not exist yet.
func IsSame(a, b string) bool {
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
