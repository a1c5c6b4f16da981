package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/live/client"
	"productform/live/keys"
	"productform/live/wire"
)

// A jobRow is a job in an answer. Times are seconds since the first plan.
type jobRow struct {
	Name       string   `json:"name" title:"job"`
	State      string   `json:"state"`
	Priority   float64  `json:"priority"`
	Tasks      int      `json:"tasks"`
	Left       int      `json:"left"`
	AtWork     int      `json:"at_work"`
	Planned    int      `json:"planned"`
	MaxWorkers *int     `json:"max_workers" title:"most"`
	Failed     int      `json:"failed"`
	Lost       int      `json:"lost"`
	Submitted  float64  `json:"submitted"`
	Started    *float64 `json:"started"`
	Ended      *float64 `json:"ended"`
	Deadline   *float64 `json:"deadline"`
	Slack      *float64 `json:"slack"` // time from now, or from the end, to the deadline
	Delay      *float64 `json:"delay"`
}

var jobColumns = []string{
	"name", "state", "priority", "tasks", "left", "at_work", "planned",
	"max_workers", "failed", "lost", "submitted", "started", "ended", "deadline",
}

func newJobRow(v *wire.JobView) jobRow {
	r := jobRow{
		Name: v.Name, State: string(v.State), Priority: v.Priority, Tasks: v.Tasks, Left: v.Left,
		AtWork: v.Hand, Planned: v.Planned,
		Failed: v.Failed, Lost: v.Lost, Submitted: v.Submit, Started: v.Start, Ended: v.Finish, Deadline: v.Deadline,
	}
	if v.MaxWorkers > 0 {
		r.MaxWorkers = &v.MaxWorkers
	}
	if v.Finish != nil {
		delay := *v.Finish - v.Submit
		r.Delay = &delay
		r.slackAt(*v.Finish)
	}
	return r
}

// slackAt sets the slack of a job with a deadline.
func (r *jobRow) slackAt(at float64) {
	if r.Deadline != nil {
		slack := *r.Deadline - at
		r.Slack = &slack
	}
}

func jobRows(views []wire.JobView) []jobRow {
	rows := []jobRow{}
	for i := range views {
		rows = append(rows, newJobRow(&views[i]))
	}
	return rows
}

// jobAnswer returns the answer with the states of jobs.
func jobAnswer(views []wire.JobView) render.Answer {
	rows := jobRows(views)
	return render.Answer{JSON: rows, Lines: []render.Lines{{Of: rows}}, Text: func(t *render.Text) {
		t.Table(rows, slices.DeleteFunc(slices.Clone(jobColumns), func(c string) bool {
			return c == "at_work" || c == "planned"
		})...)
		for _, r := range rows {
			if r.Failed > 0 {
				t.Line("why tasks of %s failed: pfq-live results %s --failures", r.Name, r.Name)
			}
		}
	}}
}

// connectTime is the maximum time that commands wait for an unreachable server, which may be
// starting.
const connectTime = 3 * time.Second

// readers are the commands that also accept the key of a monitor.
var readers = []string{"wait", "results", "status", "profiles"}

// withClient runs a function that needs a connection.
func withClient(cmd *cobra.Command, url string, do func(context.Context, *client.Client) error) error {
	ctx, roles := cmd.Context(), []keys.Role{keys.Client}
	if slices.Contains(readers, cmd.Name()) {
		roles = append(roles, keys.Monitor)
	}
	if err := keys.Check(url, "", roles...); err != nil {
		return err
	}
	for until := time.Now().Add(connectTime); ; {
		c, err := client.Connect(ctx, url)
		if err != nil && keys.Away(err) && time.Now().Before(until) && ctx.Err() == nil {
			sleep(ctx, 100*time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		defer c.Close()
		return do(ctx, c)
	}
}

func newSubmit() *cobra.Command {
	var url string
	var wait bool
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "submit FILE", Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var file *client.File
			err := interruptible(cmd.Context(), func() (err error) {
				file, err = readJobs(args[0], cmd.InOrStdin())
				return err
			})
			if err != nil {
				return err
			}
			if err := cli.Check("--output", f.file, args[0], cmd.InOrStdin()); err != nil {
				return err
			}
			return withClient(cmd, url, func(ctx context.Context, c *client.Client) error {
				var b *client.Batch
				err := withWaitNote(
					cmd, "no manager has checked the batch yet; waiting for one", func() (err error) {
						b, err = submit(ctx, c, file)
						return err
					},
				)
				if err != nil {
					return err
				}
				if wait {
					return waitFor(ctx, cmd, c, &f, b.Jobs)
				}
				return f.write(cmd, submittedAnswer(b))
			})
		},
	})
	cmd.Long += "\n\n" + strings.TrimRight(client.Help(), "\n")
	addURL(cmd, &url)
	cli.AddSwitch(cmd, &wait, "wait", "wait until all jobs are done, and report their state")
	f.add(cmd)
	return cmd
}

// noteAfter is the time after which a wait is reported.
const noteAfter = 3 * time.Second

// withWaitNote runs a function, and prints a note on standard error if it takes long.
func withWaitNote(cmd *cobra.Command, note string, do func() error) error {
	late := time.AfterFunc(noteAfter, func() { fmt.Fprintln(cmd.ErrOrStderr(), "pfq-live:", note) })
	defer late.Stop()
	return interruptible(cmd.Context(), do)
}

// interruptible returns the result of do, or the error of the context if that ends earlier: a read
// may never end.
func interruptible(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readJobs reads a job file and checks the input files of its jobs.
func readJobs(name string, stdin io.Reader) (*client.File, error) {
	source, read := name, func() (*client.File, error) { return client.ReadFile(name) }
	if name == "-" {
		source, read = "standard input", func() (*client.File, error) {
			file, err := client.Read(stdin)
			if err != nil {
				return nil, input.InFile("standard input", err)
			}
			return file, nil
		}
	}
	file, err := read()
	if err != nil {
		return nil, err
	}
	if err := checkInputs(file, filepath.Dir(name)); err != nil {
		return nil, input.InFile(source, err)
	}
	return file, nil
}

// maxInput is the maximum size in bytes of an input file.
const maxInput = 10 << 30

// checkInputs makes the paths of input files relative to the folder. It rejects files that are not
// regular, since reading them may take forever.
func checkInputs(file *client.File, folder string) error {
	const want = "a regular file of at most 10 GiB"
	for i := range file.Uploads {
		u := &file.Uploads[i]
		if !filepath.IsAbs(u.Path) {
			u.Path = filepath.Join(folder, u.Path)
		}
		at := input.Field(input.Index("jobs", u.Job)+".run.inputs", u.Name)
		about, err := os.Stat(u.Path)
		var cause *os.PathError
		switch {
		case errors.As(err, &cause):
			return input.Errorf(at, u.Path, want+": %v", cause.Err)
		case err != nil:
			return err
		case !about.Mode().IsRegular() || about.Size() > maxInput:
			return input.Errorf(at, u.Path, want)
		}
	}
	return nil
}

// submit uploads the input files of jobs, and submits the jobs.
func submit(ctx context.Context, c *client.Client, file *client.File) (*client.Batch, error) {
	for _, u := range file.Uploads {
		content, err := os.Open(u.Path)
		if err != nil {
			return nil, fmt.Errorf("jobs[%d].run.inputs.%s: %w", u.Job, u.Name, err)
		}
		digest, err := c.Upload(ctx, content)
		content.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Path, err)
		}
		run := &file.Batch.Jobs[u.Job].Run
		if run.Inputs == nil {
			run.Inputs = map[string]string{}
		}
		run.Inputs[u.Name] = digest
	}
	return c.Submit(ctx, file.Batch)
}

// submittedAnswer returns the answer with the submitted jobs.
func submittedAnswer(b *client.Batch) render.Answer {
	s := struct {
		Batch string   `json:"batch"`
		Jobs  []string `json:"jobs"`
	}{b.Name, b.Jobs}
	return render.Answer{JSON: s, Lines: []render.Lines{{Of: s}}, Text: func(t *render.Text) {
		t.Line("batch %s: %s", b.Name, strings.Join(b.Jobs, ", "))
	}}
}

// waitFor waits for jobs and writes their states.
func waitFor(ctx context.Context, cmd *cobra.Command, c *client.Client, f *answerFlags, jobs []string) error {
	views, err := c.Wait(ctx, jobs...)
	if err != nil {
		return err
	}
	if err := f.write(cmd, jobAnswer(views)); err != nil {
		return err
	}
	if slices.ContainsFunc(views, func(v wire.JobView) bool { return v.State != wire.JobCompleted }) {
		return errNoAnswer
	}
	return nil
}

func newWait() *cobra.Command {
	var url string
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "wait JOB...",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s needs at least one JOB", cmd.Name())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, url, func(ctx context.Context, c *client.Client) error {
				return waitFor(ctx, cmd, c, &f, args)
			})
		},
	})
	addURL(cmd, &url)
	f.add(cmd)
	return cmd
}

// A resultRow is the outcome of a task.
type resultRow struct {
	Task    int     `json:"task"`
	Worker  string  `json:"worker"`
	Attempt int     `json:"attempt"`
	Seconds float64 `json:"seconds"`
	Size    int64   `json:"size" title:"bytes"`
	Digest  string  `json:"digest,omitempty"`
	Output  *string `json:"output"` // nil if it is large
}

func newResults() *cobra.Command {
	var url, folder string
	var isFailures bool
	var f answerFlags
	cmd := help(&cobra.Command{
		Use: "results JOB", Args: arguments("JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isFailures && folder != "" {
				return errors.New("--to and --failures cannot be combined")
			}
			if folder != "" { // downloads large outputs
				if err := keys.Check(url, "", keys.Client); err != nil {
					return err
				}
			}
			return withClient(cmd, url, func(ctx context.Context, c *client.Client) error {
				if isFailures {
					a, err := failures(ctx, c, args[0])
					if err != nil {
						return err
					}
					return f.write(cmd, a)
				}
				rows, err := results(ctx, c, args[0], folder)
				var missing *client.MissingError
				if err != nil && !errors.As(err, &missing) {
					return err
				}
				return errors.Join(f.write(cmd, resultAnswer(rows)), err)
			})
		},
	})
	addURL(cmd, &url)
	cli.AddSwitch(cmd, &isFailures, "failures", "list the failed attempts so far instead, with their reasons")
	cli.AddText(
		cmd, &folder, "to", "", "the name of a folder",
		"also write the output of each task to a file in `DIR`, named by its number",
	)
	f.add(cmd)
	return cmd
}

// results reads the results of a job until it is done, and writes them to the folder unless it is
// "". With a [client.MissingError] it returns the existing ones.
func results(ctx context.Context, c *client.Client, job, folder string) ([]resultRow, error) {
	if folder != "" {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return nil, err
		}
	}
	rows := []resultRow{}
	var missing error
	for r, err := range c.Results(ctx, job, 0) {
		if lost := new(client.MissingError); errors.As(err, &lost) {
			missing = err
			break
		}
		if err != nil {
			return nil, err
		}
		p := &r.Report
		row := resultRow{p.Task, p.Worker, p.Attempt, p.Seconds, p.Size, p.Digest, nil}
		if p.Digest == "" {
			text := string(p.Output)
			row.Output = &text
		}
		if folder != "" {
			var b bytes.Buffer
			if err := c.Output(ctx, p, &b); err != nil {
				return nil, err
			}
			if err := cli.Write(b.Bytes(), filepath.Join(folder, strconv.Itoa(p.Task)), nil); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b resultRow) int { return a.Task - b.Task })
	return rows, missing
}

func resultAnswer(rows []resultRow) render.Answer {
	return render.Answer{JSON: rows, Lines: []render.Lines{{Of: rows}}, Text: func(t *render.Text) {
		lines := [][]string{{"task", "worker", "attempt", "seconds", "bytes", "output"}}
		for _, r := range rows {
			shown := ""
			if r.Output != nil {
				shown = firstLine(*r.Output)
			}
			lines = append(lines, []string{
				strconv.Itoa(r.Task), r.Worker, strconv.Itoa(r.Attempt), render.Six(r.Seconds),
				strconv.FormatInt(r.Size, 10), shown,
			})
		}
		t.Columns(lines)
	}}
}

// A failureRow is a failed attempt at a task.
type failureRow struct {
	Task    int     `json:"task"`
	Worker  string  `json:"worker"`
	Attempt int     `json:"attempt"`
	Seconds float64 `json:"seconds"`
	Exit    int     `json:"exit"` // exit status of a program, otherwise 0
	Reason  string  `json:"reason"`
}

// failures returns the failed attempts of a job so far, sorted by task.
func failures(ctx context.Context, c *client.Client, job string) (render.Answer, error) {
	if _, err := c.Job(ctx, job); err != nil {
		return render.Answer{}, err
	}
	list, err := c.Failures(ctx, job)
	rows := []failureRow{}
	for _, f := range list {
		rows = append(rows, failureRow{f.Task, f.Worker, f.Attempt, f.Seconds, f.Exit, f.Reason})
	}
	slices.SortStableFunc(rows, func(a, b failureRow) int { return a.Task - b.Task })
	return render.Answer{JSON: rows, Lines: []render.Lines{{Of: rows}}, Text: func(t *render.Text) {
		lines := [][]string{{"task", "worker", "attempt", "seconds", "exit", "reason"}}
		for _, r := range rows {
			lines = append(lines, []string{
				strconv.Itoa(r.Task), r.Worker, strconv.Itoa(r.Attempt), render.Six(r.Seconds),
				strconv.Itoa(r.Exit), firstLine(r.Reason),
			})
		}
		t.Columns(lines)
	}}, err
}

// firstLine returns the first line of an output, without control characters and shortened.
func firstLine(text string) string {
	const most = 80
	line, sleep, _ := strings.Cut(text, "\n")
	runes := []rune(strings.ToValidUTF8(line, "?"))
	cut := len(runes) > most || strings.TrimSpace(sleep) != ""
	runes = runes[:min(len(runes), most)]
	for i, r := range runes {
		if !strconv.IsPrint(r) {
			runes[i] = '?'
		}
	}
	if cut {
		return string(runes) + " ..."
	}
	return string(runes)
}
