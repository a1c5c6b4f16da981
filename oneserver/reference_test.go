package oneserver

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// A referenceCase is a model with its means, or with its laws.
type referenceCase struct {
	Name   string
	Model  json.RawMessage
	Answer struct {
		WaitProbability []float64 `json:"wait_probability"`
		MeanWait        []float64 `json:"mean_wait"`
		Utilization     []float64
		Rates           [][]float64
	}
	MeanDelay []float64 `json:"mean_delay"`
	Laws      []struct {
		Wait, Delay map[string]string
		Within      map[string][2]string
	}
}

// references reads the cases with means and those with laws.
func references(t *testing.T) (means, laws []referenceCase) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Means, Laws []referenceCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Means, file.Laws
}

func (c *referenceCase) model(t *testing.T) *cluster.Model {
	m, err := cluster.ReadJSON(bytes.NewReader(c.Model))
	if err != nil {
		t.Fatal(c.Name, err)
	}
	return m
}

// TestReferenceMeans compares the means by every engine with an independent program.
func TestReferenceMeans(t *testing.T) {
	means, _ := references(t)
	for _, c := range means {
		m := c.model(t)
		for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
			r, err := Solve(t.Context(), m, Settings{Engine: engine})
			if err != nil {
				t.Fatal(c.Name, engine, err)
			}
			near := func(what string, row int, got num.Value, want float64) {
				if !oracle.Near(got.Float, want, 1e-13) {
					t.Errorf("%s %s: %s of row %d = %v, want %v", c.Name, engine, what, row, got.Float, want)
				}
			}
			for i, x := range r.Classes {
				near("wait probability", i, *x.WaitProbability, c.Answer.WaitProbability[i])
				near("mean wait", i, *x.MeanWaiting, c.Answer.MeanWait[i])
				if rates := c.Answer.Rates; rates != nil && len(rates[i]) == len(m.Servers) {
					for _, s := range m.Classes[i].Servers {
						near("rate on "+m.Servers[s.Server].Name, i, servedBy(x, m.Servers[s.Server].Name),
							rates[i][s.Server])
					}
				}
			}
			for s, x := range r.Servers {
				near("utilization", s, x.Utilization, c.Answer.Utilization[s])
			}
		}
	}
}

// servedBy returns the rate at which a server or group begins jobs of a class.
func servedBy(c ClassResult, server string) num.Value {
	for _, s := range c.ServedBy {
		if s.Server == server {
			return s.Rate
		}
	}
	return num.ExactValue(new(big.Rat))
}

// TestReferenceTimes compares percentiles and probabilities of times with inverted transforms.
func TestReferenceTimes(t *testing.T) {
	_, laws := references(t)
	levels, times := []string{"50", "95", "99.9"}, []string{"0.25", "2"}
	q := Question{Times: oracle.Rats("0.25 2")}
	for _, x := range oracle.Rats("50 95 99.9") {
		q.Levels = append(q.Levels, x.Quo(x, big.NewRat(100, 1)))
	}
	for _, c := range laws {
		r, err := Answer(t.Context(), c.model(t), q, Settings{})
		if err != nil {
			t.Fatal(c.Name, err)
		}
		if !(r.Times.RelativeErrorBound < 1e-9 && r.Times.AbsoluteErrorBound < 1e-9) {
			t.Errorf("%s: bounds %+v", c.Name, *r.Times)
		}
		for i, x := range r.Classes {
			near := func(what string, got num.Value, text string) {
				want, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				low, high := got.Bounds()
				if !oracle.Near(got.Float, want, 1e-11) || !(low <= want*(1+1e-15) && want <= high*(1+1e-15)) {
					t.Errorf("%s class %d: %s = %v between %v and %v, want %v", c.Name, i, what, got.Float, low,
						high, want)
				}
			}
			if !oracle.Near(x.MeanDelay.Float, c.MeanDelay[i], 1e-13) {
				t.Errorf("%s class %d: mean delay %v, want %v", c.Name, i, x.MeanDelay.Float, c.MeanDelay[i])
			}
			for k, l := range levels {
				near("wait p"+l, x.Waiting[k], c.Laws[i].Wait[l])
				near("delay p"+l, x.Delay[k], c.Laws[i].Delay[l])
			}
			for k, l := range times {
				near("wait within "+l, x.Within[k].Waiting, c.Laws[i].Within[l][0])
				near("delay within "+l, x.Within[k].Delay, c.Laws[i].Within[l][1])
			}
		}
	}
}
