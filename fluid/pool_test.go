package fluid

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"productform/internal/oracle"
	"productform/num"
)

// poolOf returns a pool of unit capacities with one job for each row of demands such as "1 1/2 0".
func poolOf(rows ...string) *Pool {
	p := &Pool{}
	for i, row := range rows {
		p.Jobs = append(p.Jobs, Job{Name: fmt.Sprint("j", i), Demand: oracle.Rats(row)})
	}
	for j := range p.Jobs[0].Demand {
		p.Resources = append(p.Resources, Resource{Name: fmt.Sprint("r", j), Capacity: big.NewRat(1, 1)})
	}
	return p
}

// A fataler is the common part of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// kernelTasks returns the tasks of one job of each row in float64.
func kernelTasks(t fataler, p *Pool, policy Policy) []float64 {
	t.Helper()
	a, err := NewAllocator(p, policy)
	if err != nil {
		t.Fatalf("float: %v", err)
	}
	count, tasks := make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
	for i, j := range p.Jobs {
		count[i] = float64(j.Size())
	}
	if err := a.Tasks(context.Background(), count, tasks); err != nil {
		t.Fatalf("float: %v", err)
	}
	return tasks
}

// A reference is a pool of testdata/reference.json with the results of an independent program:
// fractions under DRF, 24 digits under PF.
type reference struct {
	name   string
	pool   *Pool
	expect map[Policy]expected
}

type expected struct{ tasks, shares, prices, utilization []*big.Rat }

func references(t *testing.T) []reference {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Name  string
		Model struct {
			Resources []struct{ Name, Capacity string }
			Jobs      []struct {
				Name, Weight string
				Count        int
				Demand       map[string]string
			}
		}
		Expect map[Policy]struct {
			Tasks, Prices, Utilization []string
			DominantShare              []string `json:"dominant_share"`
		}
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	read := func(list []string) []*big.Rat { return oracle.Rats(strings.Join(list, " ")) }
	var all []reference
	for _, e := range entries {
		r := reference{e.Name, &Pool{}, make(map[Policy]expected)}
		for _, s := range e.Model.Resources {
			r.pool.Resources = append(r.pool.Resources, Resource{Name: s.Name, Capacity: num.Rat(s.Capacity)})
		}
		for _, s := range e.Model.Jobs {
			job := Job{Name: s.Name, Count: s.Count, Demand: make([]*big.Rat, len(r.pool.Resources))}
			if s.Weight != "" {
				job.Weight = num.Rat(s.Weight)
			}
			for j, resource := range r.pool.Resources {
				if a, ok := s.Demand[resource.Name]; ok {
					job.Demand[j] = num.Rat(a)
				}
			}
			r.pool.Jobs = append(r.pool.Jobs, job)
		}
		for policy, x := range e.Expect {
			r.expect[policy] = expected{read(x.Tasks), read(x.DominantShare), read(x.Prices), read(x.Utilization)}
		}
		all = append(all, r)
	}
	return all
}
