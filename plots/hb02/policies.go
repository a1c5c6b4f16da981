package hb02

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"

	"productform/num"
	"productform/plots"
	"productform/sizes"
	"productform/tags"
)

// Constants of [HB02]: the mean size, and two largest sizes.
const (
	paretoMean = 3000 // E[X], seconds of work at speed 1
	wide       = 1e10 // p
	narrow     = 1e7  // p in section 7
)

// The looks of [HB02]: those of policies, then those of hosts and their sum.
const (
	tagsLook    = 0
	leastLook   = 1
	randomLook  = 2
	fairLook    = 5
	printedLook = 7
	equalLook   = 4
	endLook     = 6
	ratioLook   = 3 // look of the first ratio

	firstHostLook  = 0
	secondHostLook = 1
	sumLook        = 6
)

// paperAlphas returns the α of most figures, closer together where curves are steep.
func paperAlphas() []float64 { return append(plots.Grid(16, 40, 80), plots.Grid(11, 40, 20)...) }

// alphaAxis is the horizontal axis of most figures.
func alphaAxis() plots.Axis {
	return plots.Axis{Quantity: "exponent of the tail", Symbol: "α", Max: 2}
}

// slowdownAxis and waitingAxis are vertical axes. Slowdown is time in queues over work, at hosts of
// speed 1.
func slowdownAxis() plots.Axis {
	return plots.Axis{Quantity: "mean slowdown", Symbol: "E[S]", Scale: plots.Log}
}
func waitingAxis() plots.Axis {
	return plots.Axis{Quantity: "mean waiting time", Symbol: "E[W]", Unit: "s", Scale: plots.Log}
}

// farm returns the farm of [HB02] with sizes B(k, p, α) of mean 3000.
func farm(alpha, high float64, hosts int, load float64) (tags.Model, error) {
	jobSizes, err := sizes.NewBoundedParetoOfMean(alpha, high, paretoMean)
	return tags.Model{Sizes: jobSizes, Hosts: hosts, Load: load}, err
}

// literal returns the farm of a model with bounded Pareto sizes of this exponent, for the formulas
// as printed.
func literal(m tags.Model, alpha float64) ParetoFarm {
	low, high, _ := m.Sizes.Support()
	return ParetoFarm{Low: low, High: high, Alpha: alpha, Hosts: m.Hosts, Load: m.Load}
}

// means holds the measures of a policy in the figures.
type means struct{ slowdown, waiting float64 }

func slowdownOf(m means) float64 { return m.slowdown }
func waitingOf(m means) float64  { return m.waiting }

// A method computes the means of one policy. The error wraps [tags.ErrInfeasible] or
// [num.ErrUnstable] if no cutoffs keep every host below load 1.
type method struct {
	label string
	look  int
	thin  bool
	means func(ctx context.Context, m tags.Model) (means, error)
}

// tagsFor returns TAGS with the optimal cutoffs for one objective.
func tagsFor(label string, o tags.Objective) method {
	return method{label, tagsLook, false, func(ctx context.Context, m tags.Model) (means, error) {
		r, err := tags.Optimize(ctx, m, tags.PolicyTAGS, o)
		return means{r.MeanSlowdown.Float, r.MeanWaiting.Float}, err
	}}
}

func forSlowdown() method { return tagsFor("TAGS-opt-slowdown", bySlowdown()) }
func forWaiting() method  { return tagsFor("TAGS-opt-waitingtime", byWaiting()) }

// forFairness returns TAGS with the cutoffs that give jobs of all hosts the same mean slowdown.
func forFairness() method {
	return method{"TAGS-opt-fairness", fairLook, false, func(ctx context.Context, m tags.Model) (means, error) {
		r, err := fairest(ctx, m)
		return means{r.MeanSlowdown.Float, r.MeanWaiting.Float}, err
	}}
}

func fairest(ctx context.Context, m tags.Model) (tags.Result, error) {
	return tags.Optimize(ctx, m, tags.PolicyTAGS, tags.Objective{Fair: true})
}

// queueing returns a policy without knowledge of sizes, with its upper bound if there are bounds.
func queueing(label string, look int, thin bool, policy tags.Policy) method {
	return method{label, look, thin, func(ctx context.Context, m tags.Model) (means, error) {
		r, err := tags.Evaluate(ctx, m, policy, nil)
		_, slowdown := r.MeanSlowdown.Bounds()
		_, waiting := r.MeanWaiting.Bounds()
		return means{slowdown, waiting}, err
	}}
}

func leastWork() method {
	return queueing("LWR", leastLook, false, tags.PolicyCentral)
}
func leastWorkPrinted() method {
	return queueing("LWR as printed", printedLook, true, tags.PolicyCentralPrinted)
}
func randomPolicy() method { return queueing("Random", randomLook, false, tags.PolicyRandom) }

// equalLoads returns SITA-E.
func equalLoads() method {
	return method{"SITA-E", equalLook, false, func(ctx context.Context, m tags.Model) (means, error) {
		r, err := tags.Evaluate(ctx, m, tags.PolicySITAE, nil)
		return means{r.MeanSlowdown.Float, r.MeanWaiting.Float}, err
	}}
}

// otherPolicies returns the policies compared with TAGS in most figures.
func otherPolicies() []method { return []method{leastWork(), leastWorkPrinted(), randomPolicy()} }

// upToCapacity returns the method for models that differ only in load. If a load has no cutoffs, it
// skips the higher loads: an error of package tags includes the largest load, which takes as long
// to find as cutoffs.
func (c method) upToCapacity() method {
	compute, least := c.means, math.Inf(1) // the smallest load seen that has no cutoffs
	c.means = func(ctx context.Context, m tags.Model) (means, error) {
		if m.Load >= least {
			return means{}, tags.ErrInfeasible
		}
		all, err := compute(ctx, m)
		if errors.Is(err, tags.ErrInfeasible) {
			least = m.Load
		}
		return all, err
	}
	return c
}

// series computes one number of a policy for each x, and omits points without cutoffs.
func (c method) series(ctx context.Context, x []float64, model func(x float64) (tags.Model, error),
	pick func(means) float64) (plots.Series, error) {
	s := plots.Series{Label: c.label, Look: c.look, Thin: c.thin}
	for _, v := range x {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		m, err := model(v)
		if err != nil {
			return s, err
		}
		all, err := c.means(ctx, m)
		if errors.Is(err, tags.ErrInfeasible) || errors.Is(err, num.ErrUnstable) {
			continue
		}
		if err != nil {
			return s, fmt.Errorf("%s at %v: %w", c.label, v, err)
		}
		s.X, s.Y = append(s.X, v), append(s.Y, pick(all))
	}
	return s, nil
}

// againstAlpha returns the series of some policies against α.
func againstAlpha(ctx context.Context, high float64, hosts int, load float64, pick func(means) float64,
	methods ...method) ([]plots.Series, error) {
	var all []plots.Series
	for _, c := range methods {
		s, err := c.series(ctx, paperAlphas(),
			func(alpha float64) (tags.Model, error) { return farm(alpha, high, hosts, load) }, pick)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// quotient returns a/b as a series, at the x that both have.
func quotient(a, b plots.Series) plots.Series {
	q := plots.Series{}
	for k, i := 0, 0; k < len(a.X) && i < len(b.X); {
		switch {
		case a.X[k] < b.X[i]:
			k++
		case a.X[k] > b.X[i]:
			i++
		default:
			q.X, q.Y = append(q.X, a.X[k]), append(q.Y, a.Y[k]/b.Y[i])
			k, i = k+1, i+1
		}
	}
	return q
}

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

// paretoWords returns the data for texts about sizes, hosts and exponents, to which figures add
// their own.
func paretoWords(largest float64, hosts, loads string, alphas []float64) map[string]any {
	return map[string]any{"Mean": paretoMean, "Largest": largest, "Hosts": hosts, "Loads": loads, "Alphas": alphas}
}
