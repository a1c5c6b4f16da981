package main

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/internal/render"
	"productform/num"
	"productform/stability"
)

// A scaled says of which factor an answer is.
type scaled struct {
	Scale render.Number `json:"scale"`
}

// atFactors gives one answer for every factor, and says whether all have what was asked for. In text they follow each other.
func atFactors(factors []*big.Rat, one func(*big.Rat) (render.Answer, bool, error)) (all render.Answer, found bool, err error) {
	var objects []any
	var texts []func(*render.Text)
	found = true
	for _, factor := range factors {
		a, ok, err := one(factor)
		if err != nil {
			return all, false, err
		}
		found = found && ok
		scale := render.Fields(scaled{render.Rat(factor, render.Unproved)})
		objects = append(objects, slices.Concat(scale, render.Fields(a.JSON)))
		for _, l := range a.Lines {
			head := scale
			if l.Head != nil {
				head = slices.Concat(scale, render.Fields(l.Head))
			}
			all.Lines = append(all.Lines, render.Lines{Kind: cmp.Or(l.Kind, "unstable"), Head: head, Of: l.Of}) // an answer without kinds says why
		}
		if len(a.Columns) >= len(all.Columns) { // those of an answer that there is
			all.Columns = append([]string{"scale"}, a.Columns...)
		}
		texts = append(texts, func(t *render.Text) {
			t.Line("scale %s", render.SixRat(factor))
			a.Text(t)
			t.Digits, t.Fraction = 0, 0
		})
	}
	all.JSON = objects
	all.Text = func(t *render.Text) {
		for i, write := range texts {
			if i > 0 {
				t.Blank()
			}
			write(t)
		}
	}
	return all, found, nil
}

// A point is the answer for one factor of the arrival rates.
type point struct {
	factor   *big.Rat
	at       *scaled
	unstable *unstable // nil if there is a solution
	solution *solution
}

// sweep solves the model at every factor and says whether all of them are stable.
func (f *solveFlags) sweep(q query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	proof := givenProof(num.Engine(f.engine))
	points := make([]point, len(f.factors))
	var factors []*big.Rat // those that are stable
	for i, factor := range f.factors {
		points[i] = point{factor: factor, at: &scaled{render.Rat(factor, proof)}}
		if longWays(m) {
			float := f.settings()
			float.Engine, float.MaxJobs = num.Float, 0
			_, err := withProgress(q, func(ctx context.Context) (*bf.Result, error) { return bf.Solve(ctx, m.Scale(factor), float) })
			if !errors.Is(err, num.ErrUnstable) {
				factors = append(factors, factor) // or the sweep will say what is wrong
				continue
			}
		}
		verdict, err := stability.Cluster(m.Scale(factor))
		if err != nil {
			return a, false, err
		}
		if verdict.Stable {
			factors = append(factors, factor)
		} else {
			points[i].unstable = &unstable{scaled: points[i].at, limits: newLimits(m, verdict, proof)}
		}
	}
	results, err := withProgress(q, func(ctx context.Context) ([]*bf.Result, error) {
		return bf.LoadSweep(ctx, m, factors, f.settings())
	})
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil && !errors.Is(err, errInterrupted) { // the number of the factor is of no use
			err = cause
		}
		return a, false, f.translate(err)
	}
	f.warn(results, q.stderr)
	stable = len(results) == len(points)
	for i := range points {
		if points[i].unstable == nil {
			points[i].solution = newSolution(m, results[0], digits(f.tol))
			points[i].solution.scaled = points[i].at
			results = results[1:]
		}
	}
	return sweepAnswer(points), stable, nil
}

func sweepAnswer(points []point) render.Answer {
	var objects []any
	var lines []render.Lines
	for _, p := range points {
		if p.unstable != nil {
			objects = append(objects, p.unstable)
			u := *p.unstable
			u.scaled = nil
			lines = append(lines, render.Lines{Kind: "unstable", Head: p.at, Of: u})
			continue
		}
		objects = append(objects, p.solution)
		lines = append(lines, p.solution.lines(p.at)...)
	}
	return render.Answer{JSON: objects, Lines: lines, Columns: append([]string{"scale"}, solutionColumns...),
		Text: func(t *render.Text) { sweepText(t, points) }}
}

// sweepText writes how each factor was solved, and the tables of all factors together.
func sweepText(t *render.Text, points []point) {
	var wholes, classes, servers, distribution []render.Record
	serverTitles := []string{"name", "utilization"}
	var parts []solutionPart // of the last factor
	for _, p := range points {
		before := "scale " + render.SixRat(p.factor) + ": "
		if p.unstable != nil {
			t.WriteString(before)
			p.unstable.limits.text(t)
			continue
		}
		s := p.solution
		t.Digits = s.digits
		s.heading(t, before)
		if !slices.Equal(s.Parts, parts) {
			s.partsText(t)
			parts = s.Parts
		}
		scale := render.Fields(p.at)
		wholes = append(wholes, render.Fields(s))
		for _, c := range s.Classes {
			classes = append(classes, slices.Concat(scale, render.Fields(c)))
		}
		for _, server := range s.Servers {
			servers = append(servers, slices.Concat(scale, render.Fields(server)))
		}
		for _, d := range s.distribution() {
			distribution = append(distribution, slices.Concat(scale, render.Fields(d)))
		}
		serverTitles = serverColumns(s.Servers)
	}
	t.Line("")
	t.Table(wholes, "scale", "normalization", "empty_probability", "mean_jobs", "mean_delay")
	t.Table(classes, "scale", "name", "arrival_rate", "load", "mean_jobs", "mean_delay", "service_rate")
	t.Table(servers, slices.Concat([]string{"scale"}, serverTitles)...)
	t.Table(distribution, "scale", "jobs", "probability")
}
