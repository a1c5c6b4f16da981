package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"text/tabwriter"

	"productform/bf"
	"productform/cluster"
	"productform/num"
	"productform/stability"
)

// A point is the answer for one factor of the arrival rates.
type point struct {
	factor   *big.Rat
	unstable *stability.Result // nil if there is a solution
	solution solution
}

// sweep solves the model at every factor and says whether all of them are stable.
func (f *solveFlags) sweep(ctx context.Context, m *cluster.Model, stderr io.Writer) (answer []byte, stable bool, err error) {
	points := make([]point, len(f.factors))
	var factors []*big.Rat // those that are stable
	for i, factor := range f.factors {
		points[i].factor = factor
		if longWays(m) {
			float := f.settings()
			float.Engine, float.MaxJobs = num.Float, 0
			if _, err := bf.Solve(ctx, m.Scale(factor), float); !errors.Is(err, bf.ErrUnstable) {
				factors = append(factors, factor) // or the sweep will say what is wrong
				continue
			}
		}
		verdict, err := stability.Cluster(m.Scale(factor))
		if err != nil {
			return nil, false, err
		}
		if verdict.Stable {
			factors = append(factors, factor)
		} else {
			points[i].unstable = verdict
		}
	}
	results, err := bf.LoadSweep(ctx, m, factors, f.settings())
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil { // the number of the factor is of no use
			err = cause
		}
		return nil, false, f.translate(err)
	}
	f.warn(results, stderr)
	stable = len(results) == len(points)
	for i := range points {
		if points[i].unstable == nil {
			points[i].solution = solution{m, results[0], digits(f.tol)}
			results = results[1:]
		}
	}
	answer, err = f.formatSweep(m, points)
	return answer, stable, err
}

func (f *solveFlags) formatSweep(m *cluster.Model, points []point) ([]byte, error) {
	exact := f.engine == string(num.Exact)
	if f.format == "text" {
		return sweepText(m, points), nil
	}
	var objects, lines []record
	columns := []string{"kind"}
	for _, p := range points {
		scale := record{{"scale", ratNumber(p.factor)}}
		if exact {
			scale = append(scale, field{"scale_exact", ratText(p.factor)})
		}
		if p.unstable != nil {
			r := unstableRecord(m, p.unstable, exact)
			objects = append(objects, join(scale, r))
			lines = append(lines, join(scale, record{{"kind", "unstable"}}, r))
			continue
		}
		objects = append(objects, join(scale, p.solution.json()))
		header, rows := p.solution.csv()
		columns = header
		for _, r := range rows {
			lines = append(lines, join(scale, r))
		}
	}
	if f.format == "json" {
		return writeJSON(objects)
	}
	columns = append([]string{"scale"}, columns...)
	for _, p := range points {
		if p.unstable != nil {
			columns = append(columns, "critical_scale", "margin", "bottleneck")
			break
		}
	}
	return writeCSV(columns, lines)
}

// sweepText returns the jobs and delays at every factor, of all classes together and of each.
func sweepText(m *cluster.Model, points []point) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scale\tclass\tmean jobs\tmean delay")
	for _, p := range points {
		scale := sixRat(p.factor)
		if p.unstable != nil {
			fmt.Fprintf(w, "%s\tunstable: %s\n", scale, firstNames(classNames(m, p.unstable.Bottleneck)))
			continue
		}
		s := p.solution
		total := s.cluster()
		fmt.Fprintf(w, "%s\t(all)\t%s\t%s\n", scale, s.cell(total, "mean_jobs"), s.cell(total, "mean_delay"))
		for _, c := range s.classes() {
			fmt.Fprintf(w, "\t%s\t%s\t%s\n", c.get("name"), s.cell(c, "mean_jobs"), s.cell(c, "mean_delay"))
		}
	}
	w.Flush()
	return b.Bytes()
}
