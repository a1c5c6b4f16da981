package swap

import (
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// A Model is a pass-and-swap queue, open if classes have arrival rates, closed if they have
// populations. All numbers are rational and exactly as in the file.
type Model struct {
	Servers  []Server
	Classes  []Class
	Swaps    [][2]int // rows of joined classes; a class may be joined to itself
	MeanSize *big.Rat // σ > 0, mean of exponential sizes; nil means 1
	// closed: the classes of all jobs at the start, oldest first; nil means all jobs of the first
	// class, then all jobs of the second, and so on
	Start []int
}

// A Server serves the first job that it can.
type Server struct {
	Name     string   // not empty, and unique among the servers
	Capacity *big.Rat // C_s >= 0, work per unit of time
}

// A Class is a kind of job.
type Class struct {
	Name        string   // not empty, and unique among the classes
	ArrivalRate *big.Rat // open: λ_i >= 0, jobs per unit of time
	Population  int      // closed: ℓ_i >= 1
	Servers     []int    // rows of Model.Servers that can serve its jobs
}

// IsClosed reports whether the queue is closed.
func (m *Model) IsClosed() bool {
	return slices.ContainsFunc(m.Classes, func(c Class) bool { return c.Population > 0 })
}

// Check reports whether the model is valid. The error is a *[num.InputError] for the first entry,
// in the order of the file, that violates a rule:
//
//   - there are 1 to 10,000 servers, and 1 to 20 classes, with unique names among their kind;
//   - C_s >= 0, λ_i >= 0, σ > 0, with numerators and denominators of at most 16,384 bits;
//   - either all classes have arrival rates and none has a population, or all have a population
//     from 1 to 1,000,000 and none has an arrival rate;
//   - each class has servers, none twice, at least one of them of positive capacity;
//   - swaps are pairs of classes, none twice;
//   - only a closed queue has a start, which has every job of each class.
func (m *Model) Check() error { return modelFile.CheckAll(m) }

// checkConditions rejects fields that are each in range but contradict each other.
func (m *Model) checkConditions() error {
	if n := len(m.Classes); n > maxClasses {
		return &num.TooLargeError{States: float64(uint64(1) << min(n, 63)),
			Input: input.Errorf("classes", fmt.Sprintf("%d of them", n), "at most %d, whose sets are tabulated",
				maxClasses)}
	}
	for i := range m.Classes {
		if err := m.checkClass(i); err != nil {
			return err
		}
	}
	if err := m.checkSwaps(); err != nil {
		return err
	}
	return m.checkStart()
}

func (m *Model) checkClass(i int) error {
	c, path := &m.Classes[i], input.Index("classes", i)
	switch closed := m.IsClosed(); {
	case closed && c.ArrivalRate != nil:
		return input.Errorf(
			path+".arrival_rate", c.ArrivalRate.RatString(),
			"none: a class has a population, which makes the queue closed",
		)
	case closed && c.Population == 0:
		return input.Errorf(path+".population", c.Population, "an integer from 1 to %d", maxPopulation)
	case !closed && c.ArrivalRate == nil:
		return input.Errorf(path+".arrival_rate", "", input.Nonnegative)
	}
	if !slices.ContainsFunc(c.Servers, func(s int) bool { return m.Servers[s].Capacity.Sign() > 0 }) {
		return input.Errorf(
			path+".servers", fmt.Sprintf("%d without capacity", len(c.Servers)), "a server of positive capacity",
		)
	}
	return nil
}

func (m *Model) checkSwaps() error {
	first := map[[2]int]int{}
	for e, pair := range m.Swaps {
		key := [2]int{min(pair[0], pair[1]), max(pair[0], pair[1])}
		if f, ok := first[key]; ok {
			return input.Errorf(input.Index("swaps", e),
				fmt.Sprintf("%s, %s", m.Classes[pair[0]].Name, m.Classes[pair[1]].Name),
				"each pair once; %s is the same", input.Index("swaps", f))
		}
		first[key] = e
	}
	return nil
}

func (m *Model) checkStart() error {
	if m.Start == nil {
		return nil
	}
	if !m.IsClosed() {
		return input.Errorf("start", fmt.Sprintf("%d jobs", len(m.Start)), "none: the classes have no populations")
	}
	jobs := make([]int, len(m.Classes))
	for _, i := range m.Start {
		jobs[i]++
	}
	for i, n := range jobs {
		if want := m.Classes[i].Population; n != want {
			return input.Errorf("start", fmt.Sprintf("%d jobs of %s", n, input.Quote(m.Classes[i].Name)),
				"%d of them, its population",
				want)
		}
	}
	return nil
}

// start returns the classes of the jobs at the start.
func (m *Model) start() []int {
	if m.Start != nil {
		return m.Start
	}
	var c []int
	for i, class := range m.Classes {
		c = append(c, slices.Repeat([]int{i}, class.Population)...)
	}
	return c
}

// joined returns, for each class, the set of classes joined to it, as a bit mask.
func (m *Model) joined() []uint {
	sets := make([]uint, len(m.Classes))
	for _, pair := range m.Swaps {
		sets[pair[0]] |= 1 << pair[1]
		sets[pair[1]] |= 1 << pair[0]
	}
	return sets
}

// capacity returns C_s/σ, in jobs per unit of time.
func (m *Model) capacity(s int) *big.Rat {
	return new(big.Rat).Quo(m.Servers[s].Capacity, num.OrOne(m.MeanSize))
}
