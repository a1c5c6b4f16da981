package gang

import (
	"context"
	"fmt"

	"productform/num"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
)

// needLabel names the curve of jobs that hold need servers.
func needLabel(need int) string {
	if need == servers {
		return fmt.Sprintf("need all %d", need)
	}
	return fmt.Sprintf("need %d", need)
}

// planLimits plans simulations of a line that never ends: the number of busy servers is then the
// load limit.
func planLimits(ctx context.Context, e plots.Effort, p *plots.Plan) (points []point, err error) {
	for _, need := range needs() {
		for _, share := range simulatedShares() {
			if most, err := limit(ctx, share, need); err != nil {
				return nil, err
			} else if most > limitOfPoints {
				continue
			}
			q := point{policy: simcluster.FCFS, need: need, share: share}
			name := fmt.Sprintf("overload, need %d, share %s", need, plots.Decimal(share))
			if q, err = q.plan(ctx, e, p, name, fullLoad()); err != nil {
				return nil, err
			}
			points = append(points, q)
		}
	}
	return points, nil
}

// drawLimits draws the load limits, and compares the simulated ones with the exact ones.
func drawLimits(ctx context.Context, f *plots.Figure, points []point) error {
	panel := plots.Panel{Title: "Load limit, first come, first served", X: axis(), Wide: true,
		Y:          plots.Axis{Quantity: "load limit", Unit: "fraction of all servers", Max: 1.1},
		References: []plots.Reference{{Label: "if no server idles while jobs wait (work-conserving limit)", Y: 1}},
	}
	for look, need := range needs() {
		line := plots.Series{Label: needLabel(need), Look: look}
		for _, share := range exactShares() {
			y, err := limit(ctx, share, need)
			if err != nil {
				return err
			}
			line.X, line.Y = append(line.X, num.Nearest(share)), append(line.Y, y)
		}
		dots := plots.Series{Label: line.Label, Kind: plots.Points, Look: look}
		for _, q := range points {
			if q.need != need {
				continue
			}
			busy := q.run.Result.Server(0, sim.Utilization)
			dots.X, dots.Y = append(dots.X, num.Nearest(q.share)), append(dots.Y, busy.Mean)
			dots.Low = append(dots.Low, busy.Mean-busy.HalfWidth)
			dots.High = append(dots.High, busy.Mean+busy.HalfWidth)
			want, err := limit(ctx, q.share, need)
			if err != nil {
				return err
			}
			f.Checks = append(f.Checks, plots.SimulatedCheck(f.ID+"a",
				fmt.Sprintf("load limit, need %d, share %s", need, plots.Decimal(q.share)), want, busy, q.run.Name))
		}
		panel.Series = append(panel.Series, line, dots)
	}
	f.Panels = append(f.Panels, panel)
	return nil
}
