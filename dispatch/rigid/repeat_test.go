package rigid_test

import (
	"errors"
	"testing"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/num"
)

// A task of a job whose tasks run together is not repeated.
func TestNothingIsRepeated(t *testing.T) {
	m, err := rigid.NewMaker(rigid.Policies()[0], []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Decide(0, []dispatch.Happening{{Kind: dispatch.Submitted, What: &dispatch.Job{Tasks: 2, Work: 1}}}); err != nil {
		t.Fatal(err)
	}
	what := []dispatch.Happening{{Kind: dispatch.Repeated, Attempt: 1}}
	_, decided := m.Decide(1, what)
	for _, err := range []error{decided, m.Check(1, what), m.Apply(1, what, nil)} {
		var bad *num.InputError
		if !errors.As(err, &bad) || bad.Path != "What[0].Kind" {
			t.Errorf("error %v", err)
		}
	}
}
