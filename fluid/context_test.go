package fluid

import (
	"context"
	"errors"
	"testing"

	"productform/num"
)

// A countdown is a context that is done after it was asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Every engine of every policy asks the context, and ends with its error.
func TestAllocateEnds(t *testing.T) {
	p := poolOf("1 1/2 1/3", "1/4 1 1/5", "1/7 1/6 1", "1 1 1/9", "2/3 1 1/8")
	for i := range p.Jobs {
		p.Jobs[i].Count = 6
	}
	for _, policy := range Policies() {
		for _, engine := range []num.Engine{num.Float, num.Exact, num.Enclose} {
			if (policy == PF) == (engine == num.Exact) || (policy == PF) != (engine == num.Enclose) && engine != num.Float {
				continue
			}
			asked := &countdown{context.Background(), 1 << 30}
			if _, err := Allocate(asked, p, policy, Settings{Engine: engine}); err != nil {
				t.Fatal(err)
			}
			questions := 1<<30 - asked.left
			if questions < 1 && engine != num.Float {
				t.Errorf("%s, %s: %d questions", policy, engine, questions)
			}
			for left := range questions {
				a, err := Allocate(&countdown{context.Background(), left}, p, policy, Settings{Engine: engine})
				if a != nil || !errors.Is(err, context.Canceled) {
					t.Fatalf("%s, %s, done at question %d of %d: %v, %v", policy, engine, left+1, questions, a, err)
				}
			}
		}
	}
}
