package bf

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"testing"
	"time"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// A measuredPlan is a plan for one of the families whose work is measured.
type measuredPlan struct {
	*plan
	b *testing.B
}

func planOf(b *testing.B, name string, size int, lattice Lattice, engine num.Engine, q Question) measuredPlan {
	b.Helper()
	p, err := prepare(b.Context(), families[name].model(size))
	if err != nil {
		b.Fatal(err)
	}
	s := checkedRequest(Settings{Lattice: lattice})
	s.Question = q
	l, err := p.plan(b.Context(), 0, rung{s: s, engine: engine, prec: arithmetic.FirstPrecision})
	if err != nil {
		b.Fatal(err)
	}
	return measuredPlan{l, b}
}

// seconds returns the smallest of five times that a measurement takes.
func (l measuredPlan) seconds(measure func(ctx context.Context) error) float64 {
	l.b.Helper()
	best := math.Inf(1)
	for range 5 {
		start := time.Now()
		if err := measure(l.b.Context()); err != nil {
			l.b.Fatal(err)
		}
		best = min(best, time.Since(start).Seconds())
	}
	return best
}

// means returns the seconds that the means take, including the construction of a graph.
func (l measuredPlan) means() float64 {
	return l.seconds(func(ctx context.Context) error {
		if q := l.query; usesMethod[graph](l.plan) || usesMethod[connected](l.plan) {
			fresh, err := newPlan(ctx, &q)
			if err != nil {
				return err
			}
			_, err = fresh.method.measure(ctx, fresh)
			return err
		}
		_, err := l.method.measure(ctx, l.plan)
		return err
	})
}

// rows returns the seconds that the distribution of the jobs of one class takes.
func (l measuredPlan) rows(jobs int) float64 {
	return l.seconds(func(ctx context.Context) error {
		one := arithmetic.One(l.engine, l.prec)
		_, err := recursion.OfClass(ctx, l.problem, l.graph, 0, big.NewRat(1, 1), jobs, one, l.s.MaxBytes)
		return err
	})
}

// slopes returns the seconds that the derivatives of the mean number of all jobs, or of class 0,
// take.
func (l measuredPlan) slopes(engine num.Engine, ofClass bool) float64 {
	return l.seconds(func(ctx context.Context) (err error) {
		sweep := recursion.NewSlopeSweep(ctx, l.problem, l.graph, arithmetic.One(engine, arithmetic.FirstPrecision))
		if ofClass {
			_, err = sweep.OfClass(0)
		} else {
			_, err = sweep.OfAll()
		}
		return err
	})
}

// BenchmarkConstants measures the constants of costs.go. Each metric "in-code" is the value there,
// and "measured" the value on this machine, in the unit of the name.
func BenchmarkConstants(b *testing.B) {
	const unit = opsPerSecond // an operation takes a nanosecond
	connected := func(b *testing.B, engine num.Engine) measuredPlan {
		return planOf(b, "ladder", 16, ConnectedLattice, engine, Question{})
	}
	eliminated := func(b *testing.B) measuredPlan {
		return planOf(b, "tree", 20, EliminationLattice, num.Float, Question{})
	}
	jobs := Question{MaxJobs: 200}
	for _, c := range []struct {
		name, unit string
		inCode     float64
		measure    func(b *testing.B) float64
	}{
		{"opsPerTerm", "ns/term", opsPerTerm, func(b *testing.B) float64 {
			l := connected(b, num.Float)
			return unit * l.means() / l.terms()
		}},
		{"opsPerBigTerm", "ns/term", opsPerBigTerm, func(b *testing.B) float64 {
			l := connected(b, num.Enclose)
			return unit * l.means() / l.terms()
		}},
		{"opsPerCoefficient", "ns/product", opsPerCoefficient, func(b *testing.B) float64 {
			l := planOf(b, "drawn", 60, SymmetricLattice, num.Float, jobs)
			if err := l.build(b.Context()); err != nil {
				b.Fatal(err)
			}
			total := l.seconds(func(ctx context.Context) error { _, err := l.method.total(ctx, l.plan); return err })
			return unit * total / l.terms() / float64(jobs.MaxJobs)
		}},
		{"tableGain", "twice-terms", tableGain, func(b *testing.B) float64 {
			table, l := planOf(b, "sparse", 22, ClassLattice, num.Float, Question{}), connected(b, num.Float)
			return 2 * (l.means() / l.terms()) / (table.means() / table.terms())
		}},
		{"serverGain", "times", serverGain, func(b *testing.B) float64 {
			classes := planOf(b, "dense", 20, ClassLattice, num.Float, Question{})
			servers := planOf(b, "dense", 20, ServerLattice, num.Float, Question{})
			return (servers.means() / servers.terms()) / (classes.means() / classes.terms())
		}},
		{"opsPerRowState", "ns/state", opsPerRowState, func(b *testing.B) float64 {
			l := connected(b, num.Float)
			return unit * (2*l.rows(1) - l.rows(2)) / l.states
		}},
		{"opsPerRowTerm", "ns/term/job", opsPerRowTerm, func(b *testing.B) float64 {
			l := connected(b, num.Float)
			return unit * (l.rows(101) - l.rows(1)) / 100 / l.terms()
		}},
		{"opsPerRowSweep", "estimates/job", opsPerRowSweep, func(b *testing.B) float64 {
			q := Question{MaxJobs: 20, ByClass: true}
			few, l := eliminated(b), planOf(b, "tree", 20, EliminationLattice, num.Float, q)
			return unit * (l.means() - few.means()) / 20 / few.elimination().operations
		}},
		{"meanDerivative", "ns/term", meanDerivative, func(b *testing.B) float64 {
			l := connected(b, num.Float)
			return unit * l.slopes(num.Float, false) / l.terms()
		}},
		{"floatDerivative", "ns/term/class", floatDerivative, func(b *testing.B) float64 {
			l := connected(b, num.Float)
			return unit * l.slopes(num.Float, true) / l.terms()
		}},
		{"longDerivative", "ns/term/class", longDerivative, func(b *testing.B) float64 {
			l := planOf(b, "ladder", 12, ConnectedLattice, num.Float, Question{})
			return unit * l.slopes(num.Enclose, true) / l.terms()
		}},
		{"eliminationSweep", "estimates", eliminationSweep, func(b *testing.B) float64 {
			l := eliminated(b)
			took := l.seconds(func(ctx context.Context) error { _, err := l.eliminateDerivatives(ctx); return err })
			return unit * took / l.elimination().operations
		}},
		{"opsPerFirstStep", "ns/term", opsPerFirstStep, func(b *testing.B) float64 {
			l := planOf(b, "sparse", 12, ClassLattice, num.Float, choiceQuestions["percentiles"])
			took := l.seconds(func(ctx context.Context) error {
				l.graph = nil
				a := delayAttempt{l: l.plan}
				if a.run(ctx, 1); !a.needsSteps() {
					return a.err
				}
				return nil
			})
			return unit * took / l.terms()
		}},
	} {
		b.Run(c.name+"/unit="+cmp.Or(c.unit, "1"), func(b *testing.B) {
			measured := math.Inf(1)
			for b.Loop() {
				measured = min(measured, c.measure(b))
			}
			b.ReportMetric(c.inCode, "in-code")
			b.ReportMetric(measured, "measured")
		})
	}
}
