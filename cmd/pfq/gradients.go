package main

import (
	"context"
	"fmt"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
)

// A solutionGradient says by how much the means of a class change with one rate or capacity.
type solutionGradient struct {
	Class     string        `json:"class"`
	By        string        `json:"by" title:"for each unit of"` // arrival_rate or capacity
	Of        string        `json:"of"`                          // a class or a server
	Count     *int          `json:"count"`                       // servers whose capacity grows, each by the unit; nil for an arrival rate
	MeanJobs  render.Number `json:"mean_jobs_change"`
	MeanDelay render.Number `json:"mean_delay_change"`
}

// gradients returns the derivatives of the means of each class, nil if none are asked for.
func (f *solveFlags) gradients(q command.Query, m *cluster.Model) (*bf.Gradients, error) {
	if !f.wantGradients {
		return nil, nil
	}
	g, err := command.WithProgress(q, func(ctx context.Context) (*bf.Gradients, error) { return bf.ClassGradients(ctx, m, f.settings()) })
	return g, f.translate(err)
}

// setGradients adds the derivatives that are not 0, unless g is nil.
func (s *solution) setGradients(m *cluster.Model, g *bf.Gradients) {
	if g == nil {
		return
	}
	s.Gradients = []solutionGradient{}
	for i, c := range g.Classes {
		add := func(by, of string, count *int, values func(*bf.Partials) *num.Value) {
			jobs := values(&c.MeanJobs)
			var delay *num.Value
			if c.MeanDelay != nil {
				delay = values(c.MeanDelay)
			}
			if isZero(jobs) && (delay == nil || isZero(delay)) {
				return
			}
			s.Gradients = append(s.Gradients, solutionGradient{m.Classes[i].Name, by, of, count, s.bounded(jobs, g.Engine), s.bounded(delay, g.Engine)})
		}
		for j, of := range m.Classes {
			add("arrival_rate", of.Name, nil, func(p *bf.Partials) *num.Value { return &p.ArrivalRates[j] })
		}
		for k, of := range m.Servers {
			size := of.Size()
			add("capacity", of.Name, &size, func(p *bf.Partials) *num.Value { return &p.Capacities[k] })
		}
	}
}

func isZero(v *num.Value) bool {
	return v.Exact != nil && v.Exact.Sign() == 0 || v.Exact == nil && v.Low.Sign() == 0 && v.High.Sign() == 0
}

// bounded returns a derivative with its bounds, as decimals for every engine: those of doubles to 17 digits.
func (s *solution) bounded(v *num.Value, engine num.Engine) render.Number {
	switch engine {
	case num.Exact:
		return render.Value(v, render.Fraction, s.digits)
	case num.Float:
		n := render.Value(v, render.Bounds, 17)
		n.Double = true
		return n
	}
	return render.Value(v, render.Bounds, s.digits)
}

// gradientRows returns derivatives as text shows them: those in the capacity of a group say of how many servers.
func gradientRows(list []solutionGradient) []solutionGradient {
	rows := slices.Clone(list)
	for i, g := range rows {
		if g.Count != nil && *g.Count > 1 {
			rows[i].By = fmt.Sprintf("capacity of each of %d servers", *g.Count)
		}
	}
	return rows
}

var gradientColumns = []string{"class", "by", "of", "mean_jobs_change", "mean_delay_change"}
