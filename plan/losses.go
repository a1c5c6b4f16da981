package plan

import (
	"context"
	"errors"
	"slices"

	"productform/internal/input"
	"productform/network/loss"
	"productform/num"
	"productform/stability"
)

// The numbers of a system with losses that upgrades may increase, besides those of limits.
const (
	lossRoom    = "room"
	lossServers = "servers"
)

// lossNumbers names the numbers of a system with losses that upgrades may increase.
func lossNumbers(m *loss.Model) (names []string) {
	if m.Room > 0 {
		names = append(names, lossRoom)
	}
	if m.Count > 0 {
		names = append(names, lossServers)
	}
	for l := range m.Limits {
		names = append(names, input.Index("limits", l))
	}
	return names
}

// loss returns the system with losses with a plan.
func (in *instance) loss(steps []int) *loss.Model {
	m := *in.base.loss
	m.Limits = slices.Clone(m.Limits)
	for k, o := range in.options {
		*lossNumber(&m, o.name) += steps[k] * o.count
	}
	return &m
}

// lossNumber returns one of the numbers that [lossNumbers] names.
func lossNumber(m *loss.Model, name string) *int {
	switch name {
	case lossRoom:
		return &m.Room
	case lossServers:
		return &m.Count
	}
	return &m.Limits[slices.Index(lossNumbers(&loss.Model{Limits: m.Limits}), name)].Most
}

// solveLoss solves a system with losses.
func solveLoss(ctx context.Context, m system, a ask) (*Solution, error) {
	r, err := loss.Solve(ctx, m.loss, loss.Settings{Engine: a.engine, RelTol: a.relTol, MaxBytes: a.maxBytes})
	if err != nil {
		return nil, err
	}
	near := func(v *num.Value) *num.Value { return withBounds(v, r.RelativeErrorBound) }
	s := &Solution{
		Engine: r.Engine, RelativeErrorBound: r.RelativeErrorBound, Throughput: near(&r.Throughput),
		Blocking: near(r.Blocking), MeanDelay: near(r.MeanDelay),
	}
	for _, c := range r.Classes {
		s.Classes = append(s.Classes, ClassSolution{
			Name: c.Name, Throughput: near(&c.Throughput), Blocking: near(&c.Blocking), MeanDelay: near(c.MeanDelay),
			MeanWaiting: near(c.MeanWaiting),
		})
	}
	limits := r.Limits
	for _, name := range lossNumbers(m.loss) {
		x := ServerSolution{Name: name}
		switch name {
		case lossRoom:
			x.Utilization = near(&r.Room.Utilization)
		case lossServers:
		default:
			x.Utilization, limits = near(&limits[0].Utilization), limits[1:]
		}
		s.Servers = append(s.Servers, x)
	}
	return s, nil
}

// stableLoss decides whether a system with losses is stable: some classes may have no limit. That
// is decided before the engine matters, so its limits say nothing.
func stableLoss(ctx context.Context, m system) (bool, *stability.Result, error) {
	if m.loss.Room > 0 {
		return true, nil, nil
	}
	_, err := loss.Solve(ctx, m.loss, loss.Settings{Engine: num.Float})
	if errors.Is(err, num.ErrUnstable) {
		return false, nil, nil
	}
	err = passable(err)
	return err == nil, nil, err
}

// checkLossTarget checks the subject of a target on a system with losses.
func (p *Problem) checkLossTarget(path string, t Target, f form) error {
	if t.Class != "" {
		if _, err := p.arriving(path+".class", t.Class); err != nil {
			return err
		}
	}
	if t.Measure == MeanWaiting && (p.Loss.Count == 0 || t.Class == "") {
		return input.Errorf(path+"."+f.field, t.limitText(), "a class, in a system with a number of equal servers")
	}
	return nil
}

// checkLossStep checks what a step of an upgrade adds to a number.
func (p *Problem) checkLossStep(path string, u Upgrade) error {
	if u.Count == 0 {
		return input.Errorf(path+".step", u.Step.RatString(), "count: losses depend on whole numbers")
	}
	const most = 10_000_000
	if steps := (most - *lossNumber(p.Loss, u.Server)) / u.Count; u.Most > steps {
		return input.Errorf(path+".most", u.Most, "an integer from 1 to %d, for at most %d in total", steps, most)
	}
	return nil
}

// isLink reports whether jobs of a system with losses are blocked only by its room, to which all
// have the same access: Poisson arrivals of the same units, or one class with sources.
func isLink(m *loss.Model) bool {
	if m.Room == 0 || len(m.Limits)+len(m.Rank)+len(m.Servers) > 0 {
		return false
	}
	sources, arriving, units := 0, 0, 0
	for _, c := range m.Classes {
		if c.ArrivalRate.Sign() == 0 {
			continue
		}
		if arriving > 0 && max(c.Units, 1) != units {
			return false
		}
		arriving++
		units = max(c.Units, 1)
		sources += c.Sources
	}
	return sources == 0 || arriving == 1
}

// lossReason returns the reason why failures of a target on a system with losses extend to all
// plans with fewer steps, or why they do not.
func (in *instance) lossReason(t target) string {
	m := in.base.loss
	hasSources := slices.ContainsFunc(m.Classes, func(c loss.Class) bool { return c.Sources > 0 })
	if !isLink(m) || t.measure == MeanWaiting || t.measure == Throughput && hasSources {
		return ReasonSolved
	}
	return ReasonLink
}
