package gang

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	exact "productform/gang"
	"productform/network/loss"
	"productform/num"
	"productform/plots"
	simcluster "productform/sim/cluster"
)

// A rule is a policy with its label.
type rule struct {
	policy simcluster.Policy
	label  string
}

func rules() []rule {
	return []rule{{simcluster.FCFS, "FCFS"}, {simcluster.EASY, "EASY"}, {simcluster.FirstFit, "first fit"},
		{simcluster.ServerFilling, "ServerFilling"}}
}

// planWaits plans simulations of the rules at the load of the panels of waits. First come, first
// served is simulated where it is stable.
func planWaits(ctx context.Context, e plots.Effort, p *plots.Plan) (points []point, err error) {
	for _, r := range rules() {
		for _, share := range simulatedShares() {
			if most, err := limit(ctx, share, servers); err != nil {
				return nil, err
			} else if r.policy == simcluster.FCFS && most <= num.Nearest(waitLoad()) {
				continue
			}
			q := point{policy: r.policy, need: servers, share: share}
			name := fmt.Sprintf("%s, share %s", r.label, plots.Decimal(share))
			if q, err = q.plan(ctx, e, p, name, waitLoad()); err != nil {
				return nil, err
			}
			points = append(points, q)
		}
	}
	return points, nil
}

// unstableShares returns the shares of large jobs with which first come, first served is unstable
// at the load of the panels of waits.
func unstableShares(ctx context.Context) (plots.Region, error) {
	r := plots.Region{Label: "FCFS is unstable", From: math.Inf(1)}
	var stable, unstable float64 // the last shares
	for _, share := range exactShares() {
		x := num.Nearest(share)
		y, err := limit(ctx, share, servers)
		if err != nil {
			return r, err
		}
		switch known := y > num.Nearest(waitLoad()); {
		case known && unstable > 0 && r.To == 0:
			if r.To, err = boundary(ctx, x, unstable); err != nil {
				return r, err
			}
		case known:
			stable = x
		case unstable == 0:
			if r.From, err = boundary(ctx, stable, x); err != nil {
				return r, err
			}
			unstable = x
		default:
			unstable = x
		}
	}
	return r, nil
}

// boundary returns the share between a stable and an unstable one at which the load limit is the
// load of the panels of waits.
func boundary(ctx context.Context, stable, unstable float64) (float64, error) {
	for math.Abs(stable-unstable) > 1e-6 {
		middle := (stable + unstable) / 2
		y, err := limit(ctx, rational(middle), servers)
		if err != nil {
			return 0, err
		}
		if y > num.Nearest(waitLoad()) {
			stable = middle
		} else {
			unstable = middle
		}
	}
	return stable, nil
}

// solve returns the exact waits at a share of large jobs.
func solve(ctx context.Context, share *big.Rat) (*exact.Result, error) {
	return exact.Solve(ctx, model(share, servers, waitLoad()), exact.Settings{Engine: num.Float})
}

// drawWaits draws the mean waits of each class, and compares simulated with exact ones.
func drawWaits(ctx context.Context, f *plots.Figure, points []point) error {
	region, err := unstableShares(ctx)
	if err != nil {
		return err
	}
	for class, name := range []string{"small", "large"} {
		panel := plots.Panel{Title: fmt.Sprintf("Waits of %s jobs", name), X: axis(),
			Y:       plots.Axis{Quantity: "mean wait", Unit: "mean durations", Scale: plots.Log, Min: 0.05, Max: 1e3},
			Regions: []plots.Region{region}}
		lines, err := exactWaits(ctx, region, class)
		if err != nil {
			return err
		}
		panel.Series = lines
		for look, r := range rules() {
			dots, err := simulatedWaits(r, look, points, class)
			if err != nil {
				return err
			}
			panel.Series = append(panel.Series, dots)
		}
		f.Panels = append(f.Panels, panel)
		if err := addChecks(ctx, f, points, class, name); err != nil {
			return err
		}
	}
	return nil
}

// exactWaits returns the curves of first come, first served on both sides of the region in which it
// is unstable.
func exactWaits(ctx context.Context, region plots.Region, class int) ([]plots.Series, error) {
	const near = 0.01 // relative distance of the ends of the curves from the region
	from, to := rational(region.From*(1-near)), rational(region.To*(1+near))
	shares := append(exactShares(), from, to)
	slices.SortFunc(shares, (*big.Rat).Cmp)
	lines := make([]plots.Series, 2)
	for side := range lines {
		lines[side] = plots.Series{Label: rules()[0].label}
	}
	for _, share := range shares {
		side := 0
		if share.Cmp(from) > 0 {
			side = 1
		}
		if side == 1 && share.Cmp(to) < 0 {
			continue
		}
		r, err := solve(ctx, share)
		if err != nil {
			return nil, err
		}
		if wait := r.Classes[class].MeanWaiting; wait != nil { // there are such jobs
			lines[side].X, lines[side].Y = append(lines[side].X, num.Nearest(share)), append(lines[side].Y, wait.Float)
		}
	}
	return lines, nil
}

// simulatedWaits returns the simulated waits of a rule; they are joined if there is no exact curve.
func simulatedWaits(r rule, look int, points []point, class int) (plots.Series, error) {
	s := plots.Series{Label: r.label, Look: look, Kind: plots.Points}
	if r != rules()[0] {
		s.Kind, s.Marked, s.Bars = plots.Curve, true, true
	}
	for _, q := range points {
		if q.policy != r.policy {
			continue
		}
		mean, low, high, err := plots.LogInterval(q.run.Result.Class(class, simcluster.MeanWaiting))
		if err != nil {
			return s, fmt.Errorf("%s: %w", q.run.Name, err)
		}
		s.X, s.Y = append(s.X, num.Nearest(q.share)), append(s.Y, mean)
		s.Low, s.High = append(s.Low, low), append(s.High, high)
	}
	return s, nil
}

// addChecks compares the simulated waits of a class under first come, first served with exact ones.
func addChecks(ctx context.Context, f *plots.Figure, points []point, class int, name string) error {
	for _, q := range points {
		if q.policy != simcluster.FCFS {
			continue
		}
		r, err := solve(ctx, q.share)
		if err != nil {
			return err
		}
		f.Checks = append(f.Checks, plots.SimulatedCheck(plots.PanelID(f, 1+class),
			fmt.Sprintf("mean wait of %s jobs, share %s", name, plots.Decimal(q.share)),
			r.Classes[class].MeanWaiting.Float, q.run.Result.Class(class, simcluster.MeanWaiting), q.run.Name))
	}
	return nil
}

// checkEnds compares the waits without large jobs with Erlang's formula, and those without small
// jobs with the queue M/M/1.
func checkEnds(ctx context.Context, f *plots.Figure) error {
	r, err := solve(ctx, new(big.Rat))
	if err != nil {
		return err
	}
	work := new(big.Rat).Mul(waitLoad(), big.NewRat(servers, 1))
	c, err := loss.ErlangC(ctx, servers, work, loss.FormulaSettings{})
	if err != nil {
		return err
	}
	check := func(class int, what string, want float64, r *exact.Result) {
		f.Checks = append(f.Checks, plots.SolverCheck(plots.PanelID(f, 1+class), what,
			r.Classes[class].MeanWaiting.Float, want, r.RelativeErrorBound+0x1p-50))
	}
	check(0, "mean wait without large jobs, by Erlang's formula", c.Float/(servers-num.Nearest(work)), r)
	if r, err = solve(ctx, big.NewRat(1, 1)); err != nil {
		return err
	}
	rho := num.Nearest(waitLoad())
	check(1, "mean wait without small jobs, by the formula of M/M/1", rho/(1-rho), r)
	return nil
}
