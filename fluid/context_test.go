package fluid

import (
	"context"
	"errors"
	"testing"

	"productform/internal/oracle"
	"productform/num"
)

// Every engine of every policy checks the context and returns its error.
func TestAllocateEnds(t *testing.T) {
	p := poolOf("1 1/2 1/3", "1/4 1 1/5", "1/7 1/6 1", "1 1 1/9", "2/3 1 1/8")
	for i := range p.Jobs {
		p.Jobs[i].Count = 6
	}
	for _, policy := range Policies() {
		for _, engine := range []num.Engine{num.Float, num.Exact, num.Enclose} {
			if (policy == PF) == (engine == num.Exact) ||
				(policy == PF) != (engine == num.Enclose) && engine != num.Float {
				continue
			}
			asked := oracle.NewCountdown(1 << 30)
			if _, err := Allocate(asked, p, policy, Settings{Engine: engine}); err != nil {
				t.Fatal(err)
			}
			questions := asked.Asked()
			if questions < 1 && engine != num.Float {
				t.Errorf("%s, %s: %d checks of the context", policy, engine, questions)
			}
			for left := range questions {
				a, err := Allocate(oracle.NewCountdown(left), p, policy, Settings{Engine: engine})
				if a != nil || !errors.Is(err, context.Canceled) {
					t.Fatalf("%s, %s, cancelled at check %d of %d: %v, %v", policy, engine, left+1, questions, a, err)
				}
			}
		}
	}
}
