package tags

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
	"productform/sizes"
	"productform/sizes/exact"
)

// A refRow is a row of testdata/tags_reference.csv.
type refRow struct{ oracle.Row }

func referenceRows(t testing.TB) (rows []refRow) {
	for _, r := range oracle.Rows(t, "testdata/tags_reference.csv") {
		rows = append(rows, refRow{r})
	}
	return rows
}

func (r refRow) cutoffs(t testing.TB) []*big.Rat { return r.ExactCutoffs(t) }
func (r refRow) model(t testing.TB) paretoFarm   { return paretoFarm(r.Farm(t)) }

// A paretoFarm is an [ExactModel] whose sizes have a bounded Pareto distribution.
type paretoFarm oracle.Farm

func (m paretoFarm) sizes() exact.BoundedPareto {
	return exact.BoundedPareto{Alpha: m.Alpha, High: m.High, Low: m.Low, Mean: m.Mean}
}

func (m paretoFarm) model() ExactModel {
	return ExactModel{Sizes: m.sizes(), Hosts: m.Hosts, Load: m.Load, Speeds: m.Speeds}
}

func (m paretoFarm) Validate() error { return m.model().Validate() }

func (m paretoFarm) enclose(cutoffs []*big.Rat, tolerance float64, formal bool) (Result, error) {
	return m.model().enclose(context.Background(), PolicyTAGS, cutoffs, tolerance, formal)
}

func encloseFarm(m paretoFarm, cutoffs []*big.Rat, tolerance float64) (Result, error) {
	return Enclose(context.Background(), m.model(), PolicyTAGS, cutoffs, tolerance)
}

// Rounded returns the model with the doubles nearest to the numbers of m.
func (m paretoFarm) Rounded() (Model, error) {
	if err := m.Validate(); err != nil {
		return Model{}, err
	}
	low, err := m.sizes().LowEnd(context.Background(), 64)
	if err != nil {
		return Model{}, err
	}
	k, ok := low.Float64()
	if !ok {
		return Model{}, input.Errorf("Low", low.Low.Text('g', 17), "a low end within double precision")
	}
	f := Model{Hosts: m.Hosts}
	double := func(path string, x *big.Rat) float64 {
		v, ok := num.Float64(x)
		if !ok && err == nil {
			err = input.Errorf(path, exact.Text(x), "a number within double precision")
		}
		return v
	}
	f.Load = double("Load", m.Load)
	alpha, high := double("Alpha", m.Alpha), double("High", m.High)
	for i, v := range m.Speeds {
		f.Speeds = append(f.Speeds, double(fmt.Sprintf("Speeds[%d]", i), v))
	}
	if err != nil {
		return Model{}, err
	}
	f.Sizes, err = sizes.NewBoundedPareto(k, high, alpha)
	return f, err
}
