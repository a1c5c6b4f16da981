package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/num"
	simcluster "productform/sim/cluster"
)

// mostProducts bounds the products that exact percentiles may take: some ten seconds of one core.
const mostProducts = 1e10

// exactDelays holds percentiles of delays, in the order in which they were asked for; nil where they are not known.
type exactDelays struct {
	all     []num.Value
	classes [][]num.Value
}

// of returns the percentiles of a class.
func (d exactDelays) of(class int) []num.Value {
	if d.classes == nil {
		return nil
	}
	return d.classes[class]
}

// solveDelays computes the percentiles, given the means, where they are exact: in order of arrival. Where they would take too long, a note
// says so and there are none.
func (f *simulateFlags) solveDelays(q command.Query, m *cluster.Model, means *bf.Result) (d exactDelays, err error) {
	if len(f.percentiles) == 0 || f.policy != string(simcluster.FCFS) {
		return d, nil
	}
	note := func(why string) { fmt.Fprintln(q.Stderr, "pfq: note: no exact percentiles beside the estimates:", why) }
	var levels []*big.Rat
	highest := new(big.Rat)
	for _, p := range f.percentiles {
		levels = append(levels, p.Level)
		if p.Level.Cmp(highest) > 0 {
			highest = p.Level
		}
	}
	if products := delayProducts(m, means, highest); products > mostProducts {
		note(fmt.Sprintf("they take some %.1g products, and %g is the most", products, float64(mostProducts)))
		return d, nil
	}
	d, err = command.WithProgress(q, func(ctx context.Context) (d exactDelays, err error) {
		s := bf.Settings{Engine: num.Float, MaxBytes: 1 << 30}
		r, err := bf.Delays(ctx, m, bf.DelayQuestion{Levels: levels}, s)
		if err != nil {
			return d, err
		}
		for _, c := range r.Classes {
			d.classes = append(d.classes, c.Quantiles)
		}
		d.all, err = bf.DelaysOfAll(ctx, m, levels, s)
		return d, err
	})
	if err != nil && !errors.Is(err, command.ErrInterrupted) {
		note(cli.OneLine(err))
		return exactDelays{}, nil
	}
	return d, err
}

// delayProducts estimates the products that percentiles up to a level take, given the means: of each step as many as the lattice has
// elements; and of steps as many as events come in the time that an exponential delay of twice the mean exceeds with the probability 1-level. What is
// eliminated takes no steps: functions of as many times as its width, for each server.
func delayProducts(m *cluster.Model, means *bf.Result, level *big.Rat) float64 {
	const solves = 6 // of the classes, and of all together
	var capacity, delay, products float64
	for _, s := range m.Servers {
		v, _ := s.Capacity.Float64()
		capacity += v * float64(s.Size())
	}
	for _, c := range means.Classes {
		if c.MeanDelay != nil {
			delay = max(delay, c.MeanDelay.Float)
		}
	}
	size, _ := num.OrOne(m.MeanSize).Float64()
	rest, _ := new(big.Rat).Sub(big.NewRat(1, 1), level).Float64()
	events := capacity / size * 2 * delay * -math.Log(rest)
	for _, part := range means.Parts {
		classes, servers := float64(len(part.Classes)), float64(len(part.Servers))
		each := classes * float64(part.States)
		switch part.Lattice {
		case bf.EliminationLattice:
			// some 150 points along each time, and a few thousand operations for each
			products += 1e4 * servers * math.Pow(150, float64(part.Width))
			continue
		case bf.ConnectedLattice: // which delays do without
			each = classes * math.Exp2(min(classes, servers))
		case bf.ServerLattice, bf.SymmetricLattice:
			each *= servers
		}
		products += each * (events + 8*math.Sqrt(events))
	}
	return solves * products
}
