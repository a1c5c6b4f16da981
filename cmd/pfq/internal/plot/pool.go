package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/plots"
)

// shares holds the numbers of the picture of jobs that stay: their tasks as the capacity of one
// resource changes.
type shares struct {
	chart
	flags    *question
	pool     *fluid.Pool
	policies []fluid.Policy
	results  [][][]*fluid.Allocation // results of each policy and resource, at each factor of its capacity
}

// shared draws a pool of permanent jobs.
func (f *question) shared(q command.Query, s source) (*plots.Figure, error) {
	p, err := command.Read(s.query, fluid.ReadPool, fluid.ReadPoolFile, "solve")
	if err != nil {
		return nil, err
	}
	c := &shares{chart: chart{asked: f.scaling.Factors, factors: f.scaling.Factors, table: f.table}, flags: f, pool: p}
	if c.factors == nil {
		for k := int64(1); k <= fortieths; k++ { // up to twice the capacity
			c.factors = append(c.factors, big.NewRat(k, twentieths))
		}
		c.asked = c.factors
	}
	if err := c.check(); err != nil {
		return nil, command.InFile(q.File, err)
	}
	if err := c.solve(q); err != nil {
		return nil, command.InFile(q.File, f.translate(err))
	}
	return c.figure(q.File), nil
}

// check rejects a pool with more to draw than fits a picture.
func (c *shares) check() error {
	resources, count, alone := len(c.pool.Resources), 0, 0 // alone counts the panels of tasks under one policy
	if slices.Contains(c.flags.show, tasks) {
		alone = resources * plots.PanelsOf(len(c.pool.Jobs))
	}
	several := c.flags.policies.Several()
	for _, word := range c.flags.show {
		switch rows := len(c.pool.Jobs); {
		case word == tasks && several:
			count += resources * rows
		case word == tasks:
			count += alone
		case several:
			count += resources * resources
		default:
			count += resources * plots.PanelsOf(resources)
		}
	}
	var instead []string
	if several && alone <= plots.MostPanels {
		instead = append(instead, "one --policy")
	}
	if len(c.flags.show) > 1 && alone <= plots.MostPanels {
		instead = append(instead, "--show tasks")
	}
	return checkPanels("jobs", fmt.Sprintf("%d rows, and %d resources", len(c.pool.Jobs), resources), count, instead...)
}

// solve allocates the resources at every capacity under the policies.
func (c *shares) solve(q command.Query) error {
	var refused error
	asked := c.flags.policies.List()
	for i, policy := range asked {
		var results [][]*fluid.Allocation
		var err error
		for j := 0; j < len(c.pool.Resources) && err == nil; j++ {
			var row []*fluid.Allocation
			row, err = c.allocate(q.Part(i, len(asked)).Part(j, len(c.pool.Resources)), policy, j)
			results = append(results, row)
		}
		var bad *input.Error
		switch {
		case err == nil:
			c.policies, c.results = append(c.policies, policy), append(c.results, results)
		case len(asked) > 1 && q.Ctx.Err() == nil && errors.As(err, &bad):
			refused = cmp.Or(refused, err)
			fmt.Fprintf(q.Stderr, "pfq: note: %s is not drawn: %s\n", policy, cli.OneLine(err))
		default:
			return err
		}
	}
	if c.results == nil {
		return refused
	}
	return nil
}

// allocate allocates the resources under a policy with the capacity of resource j multiplied by
// each of the factors.
func (c *shares) allocate(q command.Query, policy fluid.Policy, j int) ([]*fluid.Allocation, error) {
	return command.WithProgress(q, func(ctx context.Context) (row []*fluid.Allocation, err error) {
		for _, factor := range c.factors {
			p := *c.pool
			p.Resources = slices.Clone(p.Resources)
			p.Resources[j].Capacity = new(big.Rat).Mul(factor, p.Resources[j].Capacity)
			a, err := fluid.Allocate(ctx, &p, policy, fluid.Settings{})
			if err != nil {
				return nil, err
			}
			row = append(row, a)
		}
		return row, nil
	})
}

// figure returns the panels: for each resource whose capacity changes, the tasks of the jobs and,
// on request, the utilizations. If policies are compared, each job and resource has its own panel.
func (c *shares) figure(file string) *plots.Figure {
	f := &plots.Figure{Title: "allocations against capacity", Caption: c.caption(file)}
	var jobNames, resources, policies []string
	for _, j := range c.pool.Jobs {
		jobNames = append(jobNames, j.Name)
	}
	for _, r := range c.pool.Resources {
		resources = append(resources, r.Name)
	}
	for _, p := range c.policies {
		policies = append(policies, string(p))
	}
	for _, word := range c.flags.show {
		rows := resources
		if word == tasks {
			rows = jobNames
		}
		for j := range resources {
			c.x = plots.Axis{Quantity: "capacity of " + c.short(resources, j), Unit: "times that of the file"}
			q := quantity{
				name:  "tasks",
				unit:  "of one job",
				rows:  rows,
				grows: !c.flags.policies.Several() && c.hasWideRange(),
			}
			if word == utilization {
				q = quantity{name: "utilization", rows: rows, part: true}
			}
			if !c.flags.policies.Several() {
				q.title = q.name + ", capacity of " + c.short(resources, j)
				q.theory = func(k, i int) *float64 { return c.value(word, 0, j, k, i) }
				f.Panels = append(f.Panels, c.panels(q)...)
				continue
			}
			for i := range rows {
				one := q
				one.title, one.rows = q.name+" of "+c.short(rows, i)+", capacity of "+c.short(resources, j), policies
				one.theory = func(k, p int) *float64 { return c.value(word, p, j, k, i) }
				f.Panels = append(f.Panels, c.panels(one)...)
			}
		}
	}
	return f
}

// hasWideRange reports whether some jobs have twenty times as many tasks as others.
func (c *shares) hasWideRange() bool {
	least, most := math.Inf(1), 0.0
	for i := range c.pool.Jobs {
		greatest := 0.0
		for j := range c.pool.Resources {
			for k := range c.factors {
				greatest = max(greatest, *c.value(tasks, 0, j, k, i))
			}
		}
		least, most = min(least, greatest), max(most, greatest)
	}
	return most >= 20*least
}

// value returns the tasks of job i, or the utilization of resource i, with the capacity of resource
// j at factor k.
func (c *shares) value(word string, policy, j, k, i int) *float64 {
	a := c.results[policy][j][k]
	if word == tasks {
		return &a.Jobs[i].Tasks.Float
	}
	return &a.Resources[i].Utilization.Float
}

// caption describes the picture.
func (c *shares) caption(file string) string {
	return fmt.Sprintf("%s under %s. The capacity of one resource changes; the others keep theirs.",
		inFile(file, "pool"), policyNames(c.policies))
}
