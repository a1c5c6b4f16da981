// This file implements pfq simulate for clusters in which each job runs on one server.

package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/oneserver"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// addPolicy adds --policy. Its words depend on the service of the model, so [policiesOf] checks
// them.
func (f *simulateQuestion) addPolicy(b *cli.Binding) {
	all, one := simcluster.PolicyNames(cluster.AllServers), simcluster.PolicyNames(cluster.OneServer)
	several := simcluster.PolicyNames(cluster.Gang)
	cli.AddText(b.Cmd, &f.policy, "policy", "", cli.OneOf(all)+"; with service: one, "+cli.OneOf(one)+
		"; with service: gang, "+cli.OneOf(several),
		"how servers serve jobs, by default fcfs, or interrupt with --interruptions: "+cli.OneOf(all)+"; with "+
			"service: one by default longest-idle, or several, such as longest-idle,jsq, to compare them; with "+
			"service: gang "+
			"by default fcfs, or several")
	b.Name("Policy", "policy")
	words := slices.Concat(all, one, several[1:])
	cli.Complete(b.Cmd, "policy", words, cobra.ShellCompDirectiveNoFileComp)
}

// policiesOf returns the policies of --policy, or the default of the service of the model.
func (f *simulateQuestion) policiesOf(m *cluster.Model) (list []string, err error) {
	names := simcluster.PolicyNames(m.Service)
	switch {
	case m.RequireService(cluster.AllServers) != nil && f.interruptions > 0:
		return nil, cli.FlagError{Err: input.Errorf("--interruptions", f.interruptions, "a model with service: all")}
	case f.policy == "":
		return names[:1], nil
	case m.RequireService(cluster.AllServers) == nil:
		if err := cli.CheckWord("--policy", f.policy, names); err != nil {
			return nil, cli.FlagError{Err: err}
		}
		return []string{f.policy}, nil
	}
	words := strings.Split(f.policy, ",")
	for i, word := range words {
		var bad *input.Error
		if errors.As(simcluster.Policy(word).Check(m.Service), &bad) {
			path := "--policy"
			if len(words) > 1 {
				path = input.Index(path, i)
			}
			return nil, cli.FlagError{Err: input.Errorf(path, word, "%s", bad.Want)}
		}
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list, nil
}

// oneMeasures returns the names of the measures for one server per job.
func (s *simulation) oneMeasures() measureNames {
	list := []string{sim.MeanJobs, simcluster.MeanQueue, simcluster.WaitProbability}
	if givesUp(s.model) {
		list = append(list, simcluster.AbandonProbability)
	}
	if timesOut(s.model) {
		list = append(list, simcluster.TimeoutProbability)
	}
	list = append(list, simcluster.MeanWaiting, simcluster.MeasuredWaiting, sim.MeanDelay, sim.MeasuredDelay)
	return measureNames{all: list, class: list}
}

// givesUp reports whether some jobs of a model give up.
func givesUp(m *cluster.Model) bool { return m.RequireEndlessPatience("") != nil }

// oneTables returns the columns of the tables of classes for one server per job. Several policies
// are compared in one table.
func (s *simulation) oneTables() []string {
	const measured = "measured_waiting measured_delay"
	switch several := len(s.policies) > 1; {
	case several && s.settings.Horizon > 0:
		return []string{"name wait_probability " + measured}
	case several:
		return []string{"name wait_probability abandon_probability? timeout_probability? mean_waiting mean_delay"}
	}
	return []string{
		"name arrival_rate mean_size? priority? mean_jobs mean_queue abandon_probability? timeout_probability?",
		"name wait_probability mean_waiting mean_delay",
		"name " + measured,
	}
}

// withoutTheory returns rows without exact values, which text omits when it compares policies.
func withoutTheory(rows []render.Record) []render.Record {
	list := make([]render.Record, len(rows))
	for i, row := range rows {
		list[i] = slices.Clone(row)
		for k, f := range row {
			if r, ok := f.Value.(render.Record); ok {
				list[i][k].Value = slices.DeleteFunc(slices.Clone(r), func(f render.Field) bool {
					return f.Key == "exact" || f.Key == "z"
				})
			}
		}
	}
	return list
}

// servedBy returns the fractions of the jobs of a class that the rows of servers serve.
func (s *simulation) servedBy(class int, exact render.Record) (rows []render.Record) {
	known, _ := exact.Get("served_by").([]render.Record)
	for _, choice := range s.model.Classes[class].Servers {
		server := s.model.Servers[choice.Server].Name
		var share *num.Value
		for _, row := range known {
			if row.Get("server") == server {
				share = command.ExactValue(row.Get("share"))
			}
		}
		e := s.result.Estimate(simcluster.OfServing, class*len(s.model.Servers)+choice.Server, simcluster.ServedBy)
		rows = append(rows, render.Record{{Key: "server", Value: server}}.
			Set("share", s.comparisons.Estimated(e, share), ""))
	}
	return rows
}

// servingLines returns a line of CSV for each row of servers that serves a class.
func servingLines(name any, rows []render.Record) (lines []render.Lines) {
	for _, row := range rows {
		line := render.Record{{Key: "name", Value: name}, {Key: "quantity", Value: "share"}}
		share, _ := row.Get("share").(render.Record)
		line = append(append(line, share...), render.Field{Key: "server", Value: row.Get("server")})
		lines = append(lines, render.Lines{Kind: "served_by", Of: line})
	}
	return lines
}

// exactOne adds exact means to the fields of an answer. By Little's law E[X_i] is λ_i times the
// mean delay, and the wait probability of all jobs is the mean of those of the classes, weighted by
// λ_i.
func exactOne(body render.Record) render.Record {
	rows := body.Get("classes").([]render.Record)
	var arrive, wait float64
	for i, row := range rows {
		delay := command.ExactValue(row.Get("mean_delay"))
		if delay == nil {
			continue
		}
		rate := command.ExactValue(row.Get("arrival_rate")).Float
		rows[i] = row.Set("mean_jobs", rate*delay.Float, "")
		arrive += rate
		wait += rate * command.ExactValue(row.Get("wait_probability")).Float
	}
	return body.Set("wait_probability", wait/arrive, "")
}

// maxPatienceWork limits the work for jobs that give up to about ten seconds of one core.
const maxPatienceWork = 2e6

// solvePatience computes the exact values if waiting jobs give up.
func (f *simulateQuestion) solvePatience(q command.Query, m *cluster.Model) (t theory, err error) {
	levels, _ := f.levels()
	t.patience, err = command.WithProgress(q, func(ctx context.Context) (*oneserver.PatienceResult, error) {
		return oneserver.SolvePatience(ctx, m, oneserver.PatienceSettings{Levels: levels, MaxWork: maxPatienceWork})
	})
	var large *num.TooLargeError
	switch {
	case errors.Is(err, command.ErrInterrupted):
		return t, err
	case errors.As(err, &large):
		return theory{missing: noExactValues(err) + "; pfq solve allows more operations"}, nil
	case err != nil:
		return theory{missing: noExactValues(err)}, nil
	}
	if len(levels) > 0 {
		for _, c := range t.patience.Classes {
			t.waiting.classes = append(t.waiting.classes, c.Waiting)
		}
	}
	return t, nil
}

// solveOne computes the exact values for one server per job.
func (f *simulateQuestion) solveOne(q command.Query, m *cluster.Model) (t theory, err error) {
	if givesUp(m) {
		return f.solvePatience(q, m)
	}
	if steps := oneSteps(m); steps > mostOneSteps {
		t.missing = "there are no exact values: they take too many steps here; pfq solve takes as long as needed"
		return t, nil
	}
	solve := func(ask oneserver.Question) (*oneserver.Result, error) {
		return command.WithProgress(q, func(ctx context.Context) (*oneserver.Result, error) {
			return oneserver.Answer(ctx, m, ask, oneserver.Settings{})
		})
	}
	t.oneServer, err = solve(oneserver.Question{MaxJobs: min(f.settings.Distribution, oneserver.MostJobs)})
	if err != nil {
		if errors.Is(err, command.ErrInterrupted) {
			return t, err
		}
		return theory{missing: noExactValues(err)}, nil
	}
	t.distribution = t.oneServer.JobsDistribution
	if len(f.percentiles) == 0 {
		return t, nil
	}
	levels, highest := f.levels()
	rest, _ := highest.Float64()
	if products := oneProducts(m, t.oneServer, 1-rest); products > mostProducts {
		noteProducts(q, products)
		return t, nil
	}
	times, err := solve(oneserver.Question{Levels: levels})
	switch {
	case errors.Is(err, command.ErrInterrupted):
		return t, err
	case err != nil:
		noteTimes(q, cli.OneLine(err))
		return t, nil
	}
	for _, c := range times.Classes {
		t.delays.classes = append(t.delays.classes, c.Delay)
		t.waiting.classes = append(t.waiting.classes, c.Waiting)
	}
	return t, nil
}

// mostOneSteps limits the steps for exact means to about ten seconds of one core.
const mostOneSteps = 1e8

// oneSteps returns a bound on the steps for exact means: the states, numbers of busy servers by
// group, for each group and each group that serves.
func oneSteps(m *cluster.Model) float64 {
	states, groups := 1., float64(len(m.Servers))
	for _, s := range m.Servers {
		states *= float64(s.Size() + 1)
	}
	return states * groups * (groups + float64(len(m.Classes)))
}

// oneProducts estimates the products for exact percentiles up to a level of which a fraction rest
// is above, given the means: for each class one for each state and each event in the time that an
// exponential delay of twice the mean exceeds with probability rest.
func oneProducts(m *cluster.Model, means *oneserver.Result, rest float64) float64 {
	delay := 0.0
	for _, c := range means.Classes {
		if c.MeanDelay != nil {
			delay = max(delay, c.MeanDelay.Float)
		}
	}
	events := eventsUntil(m, delay, rest)
	return float64(len(m.Classes)*len(m.Servers)*means.States) * (events + 8*math.Sqrt(events))
}

// withPatience returns the model with the distribution of --patience, if it is given, in place of
// its own ones.
func (f *simulateQuestion) withPatience(m *cluster.Model) (*cluster.Model, error) {
	if f.patience == "" {
		return m, nil
	}
	if _, err := sizes.Parse(f.patience, 1); err != nil {
		return nil, cli.FlagError{Err: input.Errorf("--patience", f.patience, "%s", cli.OneOf(sizes.Names()))}
	}
	if m.RequireEndlessPatience("") == nil {
		return nil, cli.FlagError{Err: input.Errorf("--patience", f.patience, "a model with mean_patience")}
	}
	c := *m
	if c.MeanPatience != nil {
		c.Patience = f.patience
	}
	c.Classes = slices.Clone(m.Classes)
	for i := range c.Classes {
		if c.Classes[i].MeanPatience != nil {
			c.Classes[i].Patience = f.patience
		}
	}
	return &c, nil
}
