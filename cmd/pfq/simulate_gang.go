// This file implements pfq simulate for clusters in which jobs hold several servers at once.

package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/dispatch/rigid"
	"productform/gang"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// addRequests adds --requests.
func (f *simulateQuestion) addRequests(b *cli.Binding) {
	b.Name("Requests", "requests")
	cli.Flag[rigid.Requests]{
		Name: "requests", Kind: "F|uniform:F", Default: "1", Want: cli.FactorsWanted, Parse: cli.ParseFactors,
		Usage: "requested times of easy and conservative, with service: gang: durations times F, or times a number " +
			"drawn from 1 to F",
	}.Add(b.Cmd, &f.requests)
}

// requestsOf returns the requested times under a policy, zero if it has none.
func (f *simulateQuestion) requestsOf(m *cluster.Model, policy string) rigid.Requests {
	if m.Service == cluster.Gang && simcluster.Policy(policy).HasRequests() {
		return f.requests
	}
	return rigid.Requests{}
}

// checkRequests rejects --requests if no policy uses it.
func (f *simulateQuestion) checkRequests(m *cluster.Model) error {
	if f.requests == (rigid.Requests{}) {
		return nil
	}
	for _, policy := range f.policies {
		if f.requestsOf(m, policy) != (rigid.Requests{}) {
			return nil
		}
	}
	return cli.FlagError{Err: input.Errorf("--requests", cli.FactorsText(f.requests),
		"the --policy easy or conservative, and a model with service: gang")}
}

// A gangVerdict holds what is known about the stability of a cluster in which jobs hold several
// servers at once.
type gangVerdict struct {
	Stable      *bool    `json:"stable"` // nil if it is not known
	ArrivalRate *big.Rat `json:"arrival_rate"`
	// largest stable arrival rate under first come, first served, nil if it is not known
	ThroughputLimit     *num.Value `json:"throughput_limit"`
	WorkConservingLimit *big.Rat   `json:"work_conserving_limit"` // largest arrival rate of any policy
	Bottleneck          []string   `json:"bottleneck"`            // classes that need the row with this limit
	row                 string     // name of this row
}

// decideGang returns what is known about the stability under a policy, and the exact means if it has
// computed them. If the exact limit takes more time than they do, the simulation must show whether
// the policy is stable.
func (f *simulateQuestion) decideGang(q command.Query, c simcluster.Cluster) (
	v *gangVerdict, exact *gang.Result, err error,
) {
	w := c.Model.LimitOfWork()
	v = &gangVerdict{
		ArrivalRate: w.ArrivalRate, WorkConservingLimit: w.Limit, Bottleneck: c.Model.NamesOf(w.Classes),
		row: c.Model.Servers[w.Row].Name,
	}
	known := func(stable bool) (*gangVerdict, *gang.Result, error) {
		v.Stable = &stable
		return v, nil, nil
	}
	switch exponential, err := isExponential(c.Sizes); {
	case err != nil:
		return nil, nil, err
	case w.IsExceeded():
		return known(false)
	case c.Policy == simcluster.ServerFilling || w.Limit == nil:
		return known(true)
	case c.Policy != simcluster.FCFS || !exponential:
		return v, nil, nil
	}
	_, differ := c.Model.OneMeanSize()
	if differ != nil && len(c.Model.Classes) > 2 {
		exact, err := solveGang(q, c.Model)
		var unstable *gang.UnstableError
		switch {
		case err == nil:
			stable := true
			v.Stable = &stable
		case errors.As(err, &unstable):
			v.Stable, v.ThroughputLimit = unstable.Stability.Stable, unstable.Stability.ThroughputLimit
		case errors.Is(err, command.ErrInterrupted):
			return nil, nil, err
		}
		return v, exact, nil
	}
	s, err := command.WithProgress(q, func(ctx context.Context) (*gang.Stability, error) {
		return gang.CheckStability(ctx, c.Model, gang.Settings{})
	})
	switch {
	case err == nil:
		v.Stable, v.ThroughputLimit = s.Stable, s.ThroughputLimit
	case errors.Is(err, command.ErrInterrupted):
		return nil, nil, err
	}
	return v, nil, nil
}

// solveGang computes the exact means under first come, first served.
func solveGang(q command.Query, m *cluster.Model) (*gang.Result, error) {
	return command.WithProgress(q, func(ctx context.Context) (*gang.Result, error) {
		return gang.Solve(ctx, m, gang.Settings{})
	})
}

// isExponential reports whether a distribution is exponential.
func isExponential(d sizes.Distribution) (bool, error) {
	mean, err := sizes.Mean(d)
	if err != nil {
		return false, err
	}
	e, err := sizes.NewExponential(mean)
	return err == nil && d.String() == e.String(), err
}

// theoryOfGang computes the exact means, if there are any and they are not known.
func (f *simulateQuestion) theoryOfGang(q command.Query, c simcluster.Cluster, known *gang.Result) (
	t theory, err error,
) {
	switch exponential, err := isExponential(c.Sizes); {
	case err != nil:
		return t, err
	case f.settings.Horizon != 0:
		return theory{missing: "there are no exact values over a horizon"}, nil
	case c.Policy != simcluster.FCFS:
		return theory{missing: fmt.Sprintf("the policy %s has no exact values", c.Policy)}, nil
	case !exponential:
		return theory{missing: "first come, first served has exact values for exponential sizes only"}, nil
	}
	if known != nil {
		return theory{gang: known}, nil
	}
	if t.gang, err = solveGang(q, c.Model); err != nil && !errors.Is(err, command.ErrInterrupted) {
		return theory{missing: noExactValues(err)}, nil
	}
	return t, err
}

// exactGang returns the exact means as fields of an answer.
func (s *simulation) exactGang() render.Record {
	body := render.Fields(s.known.gang)
	rows := body.Get("classes").([]render.Record)
	var arrive, wait float64
	for i, c := range s.known.gang.Classes {
		if c.MeanDelay == nil {
			continue
		}
		rate, _ := c.ArrivalRate.Float64()
		rows[i] = rows[i].Set("mean_jobs", rate*c.MeanDelay.Float, "")
		arrive += rate
		wait += rate * c.WaitProbability.Float
	}
	return body.Set("wait_probability", wait/arrive, "")
}

// gangNote states what the stability depends on.
const gangNote = "the largest stable load depends on the policy and on the distribution of sizes"

// unstable returns the fields that explain why there are no estimates.
func (v *gangVerdict) unstable(policy string) render.Record {
	return render.Style{Engine: num.Float}.Record(v).Set("service", cluster.Gang, "arrival_rate").
		Set("policy", policy, "arrival_rate")
}

// write explains why there are no estimates.
func (v *gangVerdict) write(t *render.Text) {
	rate, most := render.SixRat(v.ArrivalRate), render.SixRat(v.WorkConservingLimit)
	if v.ThroughputLimit != nil {
		t.Line("unstable: jobs arrive at rate %s, and the limit is %.6g under first come, first served, where a job "+
			"that does not fit blocks all jobs behind it; no policy carries more than %s",
			rate, v.ThroughputLimit.Float, most)
		return
	}
	t.Line("unstable: jobs arrive at rate %s, and no policy carries more than %s, at which all of %s is busy",
		rate, most, input.Quote(v.row))
}

// gangUnstableAnswer explains why a model has no estimates.
func gangUnstableAnswer(s *simulation) render.Answer {
	point := render.Point{Body: s.gang.unstable(s.policy), Sections: []render.Section{{Columns: "-"}}}
	return render.Points([]render.Point{point}, false, nil, func(t *render.Text) {
		writeService(t, s.model)
		s.gang.write(t)
	})
}

// stability returns what is known about the stability, as a word.
func (s *simulation) stability() string {
	switch stable := s.isStable(); {
	case stable == nil:
		return "stability not known"
	case *stable:
		return "stable"
	}
	return "unstable"
}

// isStable reports whether the simulated system is stable, nil if that is not known.
func (s *simulation) isStable() *bool {
	if s.gang != nil {
		return s.gang.Stable
	}
	return &s.verdict.Stable
}

// isUnstable reports whether the simulated system is known to be unstable.
func (s *simulation) isUnstable() bool {
	stable := s.isStable()
	return stable != nil && !*stable
}
