package tags

import (
	"fmt"
	"math"

	"productform/internal/input"
	"productform/sizes"
)

// A Model is a farm of hosts and the jobs that arrive there.
type Model struct {
	Sizes  sizes.Distribution // X, work
	Hosts  int                // h, 1 to [MaxHosts]; up to [MaxQueueHosts] under the policies that do not use sizes
	Load   float64            // system load ρ = λ E[X] / Σ_i v_i, in (0, 1)
	Speeds []float64          // v_i, work per second, in the order in which jobs visit the hosts; nil if all are 1

	Resume    Resume     // how stopped jobs continue; the zero value restarts them from scratch
	Fractions *Fractions // exact values of Load, Speeds and a list of sizes; nil if the doubles are exact
}

// MaxHosts is the largest number of hosts of a [Model] with cutoffs.
const MaxHosts = 64

// speed returns v_i.
func (m Model) speed(i int) float64 {
	if m.Speeds == nil {
		return 1
	}
	return m.Speeds[i]
}

// capacity returns Σ_i v_i.
func (m Model) capacity() float64 {
	if m.Speeds == nil {
		return float64(m.Hosts)
	}
	var sum float64
	for _, v := range m.Speeds {
		sum += v
	}
	return sum
}

// Validate checks m, except for the moments of its sizes. The error names the field, its value and
// the range.
func (m Model) Validate() error {
	if m.Sizes == nil {
		return input.Errorf("Sizes", "nil", "a distribution")
	}
	if !(m.Hosts >= 1 && m.Hosts <= MaxHosts) {
		return input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", MaxHosts)
	}
	if !(m.Load > 0 && m.Load < 1) {
		return input.Errorf("Load", m.Load, "a number in (0, 1)")
	}
	if err := m.checkSpeeds(); err != nil {
		return err
	}
	if err := m.Resume.check(); err != nil {
		return err
	}
	return m.validateFractions()
}

func (m Model) checkSpeeds() error {
	if m.Speeds != nil && len(m.Speeds) != m.Hosts {
		return input.Errorf("Speeds", fmt.Sprintf("%d speeds", len(m.Speeds)), "one speed per host, %d", m.Hosts)
	}
	for i, v := range m.Speeds {
		if !(v >= 1e-100 && v <= 1e100) {
			return input.Errorf(fmt.Sprintf("Speeds[%d]", i), v, "a number in [1e-100, 1e100]")
		}
	}
	return nil
}

// CheckCutoffs accepts h-1 finite, nondecreasing cutoffs >= 0. If a cutoff is below all sizes, no
// job ends at its host. A cutoff of 0 leaves the host idle, and a cutoff at or above all sizes
// leaves the hosts after it idle.
func (m Model) CheckCutoffs(cutoffs []float64) error {
	if len(cutoffs) != m.Hosts-1 {
		return input.Errorf("Cutoffs", fmt.Sprintf("%d cutoffs", len(cutoffs)), "%d, one fewer than hosts", m.Hosts-1)
	}
	before := 0.0
	for i, s := range cutoffs {
		if !(s >= before && s <= math.MaxFloat64) {
			return input.Errorf(fmt.Sprintf("Cutoffs[%d]", i), s, "a finite number >= %v", before)
		}
		before = s
	}
	return nil
}
