package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/internal/cli"
)

var formats = []string{"text", "json", "csv"}

func addFormat(cmd *cobra.Command, format *string) {
	cli.AddChoice(cmd, format, "format", formats, "form of the answer")
}

// oneModel accepts one argument, MODEL.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s wants one MODEL, a file or - for the standard input, not %d arguments", cmd.Name(), len(args))
	}
	return nil
}

// readModel reads the model in the file, or on the standard input if the name is "-".
func readModel(name string, stdin io.Reader) (*cluster.Model, error) {
	var m *cluster.Model
	var err error
	if name != "-" {
		m, err = cluster.ReadFile(name)
	} else if m, err = cluster.Read(stdin); err != nil {
		err = fmt.Errorf("%s: %w", source(name), err)
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

// write writes the answer to the standard output, or to the file if one is named.
func write(answer []byte, file string, stdout io.Writer) error {
	if file == "" || file == "-" {
		_, err := stdout.Write(answer)
		return err
	}
	err := writeFile(answer, file)
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch { // what remains of the error names the temporary file
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// writeFile writes a temporary file beside the one named and renames it, so that nobody ever sees half an answer.
func writeFile(answer []byte, file string) (err error) {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(file, answer, 0o666) // a terminal or a pipe; a directory is an error
	}
	temporary := filepath.Join(filepath.Dir(file), fmt.Sprintf(".%s.%d.tmp", filepath.Base(file), os.Getpid()))
	interrupted := make(chan os.Signal, 1) // signals wait until the file is whole
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer func() {
		if err != nil {
			os.Remove(temporary)
		}
		signal.Stop(interrupted)
	}()
	if err := os.WriteFile(temporary, answer, 0o666); err != nil {
		return err
	}
	return os.Rename(temporary, file)
}
