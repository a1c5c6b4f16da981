package sweep

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"productform/internal/cli"
	"productform/live/internal/processes"
)

// A child is a process that serves runs.
type child struct {
	fingerprint cli.Fingerprint
	keys        *os.File // standard input
	answers     *bufio.Reader
	out, said   *os.File // standard output and error
	kill        context.CancelFunc
	ended       chan error
}

// serve starts a program with --tasks serve and reads its fingerprint, which it prints after
// reading its files. The program runs until it is closed. It is killed when life is done, or when
// ctx is done during the start. It uses the files in folder, and its standard error is left there.
// marks is the folder for the record of its process group.
func serve(ctx, life context.Context, path string, args []string, folder, marks string) (c *child, err error) {
	var files [4]*os.File // standard input and output
	for i := 0; i < 4 && err == nil; i += 2 {
		files[i], files[i+1], err = os.Pipe()
	}
	c = &child{keys: files[1], out: files[2], ended: make(chan error, 1)}
	if err == nil {
		c.said, err = os.CreateTemp(folder, "stderr-")
	}
	if err != nil {
		closeAll(files[0], files[1], files[2], files[3])
		return nil, err
	}
	life, c.kill = context.WithCancel(life)
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	cmd := exec.Command(path, slices.Concat(args, []string{"--parallel", "1", "--tasks", cli.Serve})...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = folder, files[0], files[3], c.said
	c.answers = bufio.NewReaderSize(c.out, 1<<16)
	go func() {
		err := processes.Run(life, marks, cmd)
		closeAll(files[0], files[3]) // the output now ends with the child
		c.ended <- err
	}()
	line, err := c.answers.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &c.fingerprint)
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), c.closeError(err))
	}
	return c, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// do runs one run. It kills the child when ctx is done.
func (c *child) do(ctx context.Context, key string) (cli.Answer, error) {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	var line []byte
	_, err := fmt.Fprintln(c.keys, key)
	if err == nil {
		line, err = c.answers.ReadBytes('\n')
	}
	var a cli.Answer
	if err == nil {
		a, err = cli.ParseAnswer(line)
	}
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case err != nil:
		return a, err
	case a.Key != key:
		return a, fmt.Errorf("answer has key %s instead of %s", a.Key, key)
	case a.Error != "":
		return a, fmt.Errorf("run %s: %s", key[:8], a.Error)
	}
	return a, nil
}

// close stops the child and waits for its end.
func (c *child) close() error {
	c.kill()
	err := <-c.ended
	closeAll(c.keys, c.out, c.said)
	return err
}

// closeError closes the child and returns the reason for its failure, including its last output if
// it ended by itself.
func (c *child) closeError(err error) error {
	c.keys.Close()
	end := c.close()
	text, _ := os.ReadFile(c.said.Name())
	said := strings.Split(strings.TrimSpace(string(text)), "\n")
	var exit *exec.ExitError
	if last := said[len(said)-1]; errors.As(end, &exit) && last != "" {
		return fmt.Errorf("%w: %s", end, last)
	}
	return errors.Join(err, end)
}
