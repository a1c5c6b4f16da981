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
	g, err := command.WithProgress(q, func(ctx context.Context) (*bf.Gradients, error) { return bf.ClassGradients(ctx, m, f.settings) })
	return g, f.translate(err)
}

// gradients returns the derivatives that are not 0.
func (s *solution) gradients(g *bf.Gradients) []solutionGradient {
	m, list := s.model, []solutionGradient{}
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
			list = append(list, solutionGradient{m.Classes[i].Name, by, of, count, s.bounded(jobs, g.Engine), s.bounded(delay, g.Engine)})
		}
		for j, of := range m.Classes {
			add("arrival_rate", of.Name, nil, func(p *bf.Partials) *num.Value { return &p.ArrivalRates[j] })
		}
		for k, of := range m.Servers {
			size := of.Size()
			add("capacity", of.Name, &size, func(p *bf.Partials) *num.Value { return &p.Capacities[k] })
		}
	}
	return list
}

func isZero(v *num.Value) bool {
	return v.Exact != nil && v.Exact.Sign() == 0 || v.Exact == nil && v.Low.Sign() == 0 && v.High.Sign() == 0
}

// bounded returns a derivative with its bounds, as decimals for every engine: those of doubles to 17 digits.
func (s *solution) bounded(v *num.Value, engine num.Engine) render.Number {
	switch engine {
	case num.Exact:
		return render.Value(v, render.Fraction, s.style.Digits)
	case num.Float:
		n := render.Value(v, render.Bounds, 17)
		n.Double = true
		return n
	}
	return render.Value(v, render.Bounds, s.style.Digits)
}

// perServer returns derivatives as text shows them: those in the capacity of a group with the number of
// its servers.
func perServer(list []render.Record) []render.Record {
	rows := slices.Clone(list)
	for i, r := range rows {
		if count, ok := r.Get("count").(int); ok && count > 1 {
			rows[i] = slices.Clone(r).Set("by", fmt.Sprintf("capacity of each of %d servers", count), "")
		}
	}
	return rows
}
