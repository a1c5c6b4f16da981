package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/dispatch/swf"
	"productform/internal/cli"
	"productform/internal/input"
	simcluster "productform/sim/cluster"
)

// readClasses reads the job classes from which jobs are drawn if the trace is a file in YAML, and
// rejects flags for the other kind of traces.
func (f *dispatchFlags) readClasses(cmd *cobra.Command, name string) error {
	given := cmd.Flags().Changed
	if end := filepath.Ext(name); !slices.Contains([]string{".yaml", ".yml"}, end) {
		if given("sizes") {
			return errors.New("--sizes needs job classes in a file in YAML: a log has run times")
		}
		return nil
	}
	for _, flag := range []string{"columns", "zone"} {
		if given(flag) {
			return fmt.Errorf("--%s needs a log, not a file of job classes", flag)
		}
	}
	if f.DropLarge && f.samples > 0 {
		return errors.New("--drop-large and --samples cannot be combined for jobs drawn from classes: " +
			"their numbers differ")
	}
	m, err := command.ReadModel(command.Query{Ctx: cmd.Context(), File: name, Stderr: cmd.ErrOrStderr()})
	if err != nil {
		return err
	}
	if err := checkClasses(m); err != nil {
		return command.InFile(name, err)
	}
	command.NotePriorities(cmd.ErrOrStderr(), m, ": policies with priorities rank classes by their numbers of jobs, "+
		"fewest first")
	mean, err := command.MeanOfSizes(m.MeanSize)
	if err != nil {
		return command.InFile(name, err)
	}
	c := simcluster.Cluster{Model: m}
	if c.Sizes, err = command.ParseSizes("--sizes", f.sizes, mean); err != nil {
		return err
	}
	f.Requests.OfLog = false // there is none
	f.Drawn = &cli.Drawn{Workers: m.Servers[0].Size()}
	for _, class := range m.Classes {
		f.Drawn.Users = append(f.Drawn.Users, class.Name)
	}
	f.Drawn.Draw = func(count int, seed uint64) ([]swf.Job, error) {
		jobs, err := drawJobs(c, count, seed)
		return jobs, command.InFile(name, err)
	}
	return nil
}

// checkClasses rejects models other than of patient jobs that hold servers of a single row, each of
// speed 1, any of which suits.
func checkClasses(m *cluster.Model) error {
	if err := m.RequireService(cluster.Gang, cluster.OneServer); err != nil {
		return err
	}
	if len(m.Servers) > 1 {
		return input.Errorf("servers", len(m.Servers), "one row of servers, which are the workers")
	}
	if v := m.Servers[0].Capacity; v != nil && v.Cmp(big.NewRat(1, 1)) != 0 {
		return input.Errorf("servers[0].capacity", v.RatString(), "1, the speed of the workers")
	}
	for i, class := range m.Classes {
		if class.Servers != nil && class.Servers[0].Choose < m.Servers[0].Size() {
			return input.Errorf(input.Index("classes", i)+".servers", class.Servers[0].Choose,
				"all %d servers, since any worker runs any job", m.Servers[0].Size())
		}
	}
	return cmp.Or(m.RequireEndlessPatience("jobs never give up"), m.RequireNoTimeouts())
}

// processorsOf returns the number of processors of the jobs of a class.
func processorsOf(class *cluster.Class) int64 {
	if class.Needs == nil {
		return 1
	}
	return int64(class.Needs[0].Choose)
}

// drawJobs draws the jobs of a cluster, with the number of the class as user.
func drawJobs(c simcluster.Cluster, count int, seed uint64) ([]swf.Job, error) {
	list, err := c.Arrivals(count, seed)
	if bad := (*input.Error)(nil); errors.As(err, &bad) { // about a field of the file
		err = &input.Error{Path: strings.TrimPrefix(bad.Path, "Model."), Value: bad.Value, Want: bad.Want}
	}
	if err != nil {
		return nil, err
	}
	const no = swf.Unknown
	jobs := make([]swf.Job, len(list))
	for k, a := range list {
		jobs[k] = swf.Job{
			Number: int64(k) + 1, Submit: a.Time, RunTime: a.Size,
			Processors: processorsOf(&c.Model.Classes[a.Class]), User: int64(a.Class),
			Wait: no, CPUTime: no, Memory: no, RequestedProcessors: no, RequestedTime: no, RequestedMemory: no,
			Status: no, Group: no, Executable: no, Queue: no, Partition: no, PrecedingJob: no, ThinkTime: no,
		}
	}
	return jobs, nil
}
