package cluster_test

import (
	"errors"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/num"
)

// The message names the classes if the model has names, but not thousands of them.
func TestUnstableError(t *testing.T) {
	m := &cluster.Model{Classes: []cluster.Class{{Name: "web"}, {Name: "a \"b\""}, {Name: "c"}}}
	for _, c := range []struct {
		classes []int
		named   bool
		who     string
	}{
		{[]int{0}, true, `class "web" brings`},
		{[]int{0, 2}, true, `classes "web" and "c" bring`},
		{[]int{0, 1, 2}, true, `classes "web", "a \"b\"" and "c" bring`},
		{[]int{4}, false, "class 4 brings"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, false, "classes 0, 1, 2, 3, 4, 5, 6 and 7 bring"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, false, "classes 0, 1, 2, 3, 4, 5, 6, 7 and 2 more bring"},
	} {
		e := &cluster.UnstableError{Classes: c.classes, ArrivalRate: big.NewRat(7, 2), Capacity: big.NewRat(3, 1)}
		if c.named {
			e.Names = m.NamesOf(c.classes)
		}
		want := "unstable: jobs arrive at least as fast as their servers can work: " + c.who +
			" 7/2 jobs per unit of time to servers that can do 3"
		if e.Error() != want || !errors.Is(e, num.ErrUnstable) {
			t.Errorf("%v, want %s", e, want)
		}
	}
}
