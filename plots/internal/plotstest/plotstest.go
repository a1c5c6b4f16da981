// Package plotstest answers a question of the tests of all papers: can a figure be computed and
// drawn as promised?
package plotstest

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"productform/plots"
	"productform/sweep"
)

// Small holds settings with which the simulations of the whole catalogue take seconds.
func Small() plots.Settings {
	return plots.Settings{Precision: plots.Draft, Seed: 1, Runs: 4, Jumps: 2000, WarmUp: 1000}
}

// Compute returns the figures of some specs by their ids, each of which can be drawn. Without ids
// it returns all.
func Compute(
	t *testing.T, specs []plots.Spec, s plots.Settings, runs sweep.Settings, ids ...string,
) map[string]*plots.Figure {
	t.Helper()
	var wanted []plots.Spec
	for _, spec := range specs {
		if len(ids) == 0 || slices.Contains(ids, spec.ID) {
			wanted = append(wanted, spec)
		}
	}
	all, err := plots.Compute(t.Context(), wanted, s, runs)
	if err != nil {
		t.Fatal(err)
	}
	figures := make(map[string]*plots.Figure)
	for i, f := range all {
		if f.ID != wanted[i].ID {
			t.Errorf("figure %d is %s, want %s", i, f.ID, wanted[i].ID)
		}
		if err := f.Validate(); err != nil {
			t.Fatalf("%s: %v", f.ID, err)
		}
		if n := len(strings.Fields(f.Caption)); n > plots.MostWords || f.Setting == "" {
			t.Errorf("%s: a caption of %d words, want at most %d, and the setting %q",
				f.ID, n, plots.MostWords, f.Setting)
		}
		figures[f.ID] = f
	}
	return figures
}

// A Once computes figures with [Small] on first use, for all tests of a package.
type Once struct {
	mu      sync.Mutex
	figures map[string]*plots.Figure
}

// Figures returns the figures of all specs by their ids.
func (o *Once) Figures(t *testing.T, specs []plots.Spec) map[string]*plots.Figure {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.figures == nil {
		o.figures = Compute(t, specs, Small(), sweep.Settings{})
	}
	return o.figures
}

// CheckIDs compares the ids of specs with the wanted ones, which are separated by spaces.
func CheckIDs(t *testing.T, specs []plots.Spec, want string) {
	t.Helper()
	var ids []string
	for _, spec := range specs {
		ids = append(ids, spec.ID)
	}
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("figures %q, want %q", got, want)
	}
}

// Series returns the series of a panel with this label, in the order of their groups.
func Series(t *testing.T, p plots.Panel, label string) []plots.Series {
	t.Helper()
	var found []plots.Series
	for _, s := range p.Series {
		if s.Label == label {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s: no series %q", p.Title, label)
	}
	return found
}

// CloseTo reports whether two numbers agree up to a relative difference.
func CloseTo(a, b, part float64) bool { return math.Abs(a-b) <= part*math.Abs(b) }
