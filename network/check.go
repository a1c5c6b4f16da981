package network

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// Limits on the parts of a model that are stored in tables.
const (
	maxPopulation  = 1_000_000_000
	maxServers     = 1_000_000
	maxRates       = 100_000
	maxLimits      = 1000    // per station; every pair is compared
	maxRankClasses = 16      // at a station with Rank, which lists 2^n sets
	maxTable       = 1 << 20 // states of a Table
)

const (
	out             = "out" // name of the exit from the network in files
	wantPopulation  = "an integer from 0 to 1000000000"
	wantProbability = "a probability, a number >= 0"
)

// Check reports whether the model is valid. It returns nil, or an error that wraps an
// *[num.InputError] for the first invalid entry. Fields are named as in a file:
// classes[3].visits[0].next.cpu is the branch to station cpu, next["cpu/a"] the branch to class a
// there.
//
//   - there are stations and classes, each with a unique name among its kind; no station is
//     named out;
//   - a station has the fields of its discipline, and names in them are those of classes that visit
//     it; limits are disjoint or nested, a rank is given for every set and nondecreasing, a table
//     is positive and covers the populations. Whether a table has the balance property is left to
//     the solvers, which take a context;
//   - numbers are in their ranges, with numerators and denominators of at most 16,384 bits;
//   - probabilities sum to 1, exactly;
//   - a chain has either arrivals or jobs; no jobs leave a closed chain, and its jobs
//     can get from each visit to every other; arriving jobs of an open chain can get to every visit
//     and from there out of the network.
//
// It takes time linear in the size of the model, apart from sums of fractions.
func (m *Model) Check() error {
	if err := modelFile.CheckAll(m); err != nil {
		return err
	}
	if err := m.checkVisits(); err != nil {
		return err
	}
	if err := m.checkRouting(); err != nil {
		return err
	}
	return m.checkSets()
}

// checkStations rejects a class that has two visits to one station.
func (m *Model) checkStations() error {
	for c := range m.Classes {
		seen := make(map[int]bool, len(m.Classes[c].Visits))
		for v, visit := range m.Classes[c].Visits {
			if seen[visit.Station] {
				return input.Errorf(visitPath(c, v)+".station", strconv.Quote(m.Stations[visit.Station].Name),
					"each station once; a class that comes twice in a row is two classes")
			}
			seen[visit.Station] = true
		}
	}
	return nil
}

// checkVisits checks references to visits, and the nodes of visits.
func (m *Model) checkVisits() error {
	for c := range m.Classes {
		class := &m.Classes[c]
		if class.Reference < 0 || class.Reference >= len(class.Visits) {
			return input.Errorf(input.Index("classes", c)+".reference", class.Reference,
				"a row of visits, 0 to %d", len(class.Visits)-1)
		}
		for v, visit := range class.Visits {
			if err := m.checkNodes(visitPath(c, v)+".nodes", visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNodes checks the nodes that serve a visit.
func (m *Model) checkNodes(path string, v Visit) error {
	station := &m.Stations[v.Station]
	if station.Nodes == nil {
		if v.Nodes != nil {
			return input.Errorf(path, fmt.Sprintf("%d of them", len(v.Nodes)), "no such field: station %s has no nodes",
				input.Quote(station.Name))
		}
		return nil
	}
	if len(v.Nodes) == 0 {
		return input.Errorf(path, "", "nodes of station %s that serve the class", input.Quote(station.Name))
	}
	seen := make(map[int]bool, len(v.Nodes))
	works := false
	for k, s := range v.Nodes {
		if s < 0 || s >= len(station.Nodes) {
			return input.Errorf(input.Index(path, k), s, "a row of nodes, 0 to %d", len(station.Nodes)-1)
		}
		if seen[s] {
			return input.Errorf(input.Index(path, k), strconv.Quote(station.Nodes[s].Name), "each node once")
		}
		seen[s] = true
		works = works || station.Nodes[s].Capacity.Sign() > 0
	}
	if !works {
		return input.Errorf(path, fmt.Sprintf("%d of them", len(v.Nodes)), "a node of positive capacity")
	}
	return nil
}

// CheckSizes returns a *[num.InputError] for the first visit whose mean size differs from that of
// an earlier class at a station that needs one mean size; see [Station.NeedsExponential]. Such a
// model can be simulated, but solvers reject it. m must have passed [Model.Check].
func (m *Model) CheckSizes() error {
	first := make([]Branch, len(m.Stations)) // the first visit to each station; Class is one too high
	for c := range m.Classes {
		for v, visit := range m.Classes[c].Visits {
			station := &m.Stations[visit.Station]
			if !station.NeedsExponential() {
				continue
			}
			if first[visit.Station].Class == 0 {
				first[visit.Station] = Branch{Class: c + 1, Visit: v}
				continue
			}
			other := &m.Classes[first[visit.Station].Class-1]
			want := other.Visits[first[visit.Station].Visit].size()
			if visit.size().Cmp(want) != 0 {
				return input.Errorf(visitPath(c, v)+".mean_size", visit.size().RatString(),
					"%s, that of %s: station %s has a product form for exponential sizes of one mean only",
					want.RatString(), input.Quote(other.Name), input.Quote(station.Name))
			}
		}
	}
	return nil
}

// NeedsExponential reports whether the station has a product form only with exponential sizes of
// one mean. At other stations only the mean sizes matter, and they can differ by class.
func (s *Station) NeedsExponential() bool {
	switch s.Discipline {
	case FCFS, Random, Order:
		return true
	}
	return s.Discipline == LCFS && s.Servers > 1
}

// size returns σ.
func (v *Visit) size() *big.Rat { return num.OrOne(v.MeanSize) }

func visitPath(class, visit int) string {
	return input.Index(input.Index("classes", class)+".visits", visit)
}

// checkRouting checks the routing: first each branch and each sum, then the chains.
func (m *Model) checkRouting() error {
	for c := range m.Classes {
		class, path := &m.Classes[c], input.Index("classes", c)
		short, err := m.checkForm(c)
		if err != nil {
			return err
		}
		if class.Arrives != nil {
			if class.ArrivalRate == nil {
				return input.Errorf(
					path+".arrives", fmt.Sprintf("%d branches", len(class.Arrives)),
					"no such field without arrival_rate",
				)
			}
			if short {
				return input.Errorf(
					path+".arrives", fmt.Sprintf("%d branches", len(class.Arrives)),
					"no such field where visits are given by their number",
				)
			}
			if err := m.checkBranches(path+".arrives", c, class.Arrives, true); err != nil {
				return err
			}
		}
		for v, visit := range class.Visits {
			if short {
				break
			}
			if err := m.checkBranches(visitPath(c, v)+".next", c, visit.Next, false); err != nil {
				return err
			}
		}
	}
	return m.checkChains()
}

// checkForm checks that either all visits of class c have branches to their next visits, or all
// have a number of visits (short).
func (m *Model) checkForm(c int) (short bool, err error) {
	class := &m.Classes[c]
	short = class.Visits[0].Count != nil
	sum := new(big.Rat)
	for v, visit := range class.Visits {
		path := visitPath(c, v)
		switch {
		case visit.Count != nil && visit.Next != nil:
			return short, input.Errorf(path+".visits", visit.Count.RatString(), "either visits (a number) or next")
		case visit.Count == nil && visit.Next == nil && short:
			return short, input.Errorf(path+".visits", "", "a number > 0, as the other visits of the class have")
		case visit.Count == nil && visit.Next == nil:
			return short, input.Errorf(
				path+".next", "", "the next visits with their probabilities, or visits, their number",
			)
		case short != (visit.Count != nil):
			return short, input.Errorf(
				path, input.Quote(m.Stations[visit.Station].Name), "next at all visits of the class, or visits at all",
			)
		}
		if short {
			sum.Add(sum, visit.Count)
		}
	}
	if short && class.ArrivalRate != nil && sum.Cmp(big.NewRat(1, 1)) < 0 {
		return short, input.Errorf(
			input.Index("classes", c)+".visits", sum.RatString()+" in total", "at least one visit per arrival",
		)
	}
	return short, nil
}

// checkBranches checks the branches of class c at path; branches of arrivals stay in their class.
func (m *Model) checkBranches(path string, c int, branches []Branch, arrivals bool) error {
	type end struct{ class, visit int }
	seen := make(map[end]bool, len(branches))
	for _, b := range branches {
		if b.Class == Leaves && !arrivals {
			b.Visit = 0
		} else if b.Class == Leaves {
			return input.Errorf(input.Field(path, out), strconv.Quote(out), "a visit of the class itself")
		} else if b.Class < 0 || b.Class >= len(m.Classes) || b.Visit < 0 || b.Visit >= len(m.Classes[b.Class].Visits) {
			return input.Errorf(path, fmt.Sprintf("visit %d of class %d", b.Visit, b.Class), "visits of the model")
		}
		at := input.Field(path, m.branchName(c, b))
		switch {
		case seen[end{b.Class, b.Visit}]:
			return input.Errorf(at, strconv.Quote(m.branchName(c, b)), "each way once")
		case arrivals && b.Class != c:
			return input.Errorf(at, strconv.Quote(m.branchName(c, b)), "a visit of the class itself")
		case b.Class >= 0 && m.Classes[b.Class].Visits[b.Visit].Count != nil:
			return input.Errorf(at, strconv.Quote(m.branchName(c, b)), "a class whose visits say where jobs go next")
		}
		seen[end{b.Class, b.Visit}] = true
		if err := input.CheckNumber(at, b.Probability, wantProbability); err != nil {
			return err
		}
	}
	sum, err := num.BoundedSumRats(context.Background(), len(branches), func(k int) *big.Rat {
		return branches[k].Probability
	})
	if errors.Is(err, num.ErrLongSum) {
		return input.Errorf(path, fmt.Sprintf("%d probabilities", len(branches)),
			"a common denominator of at most %d bits",
			num.LongestSum)
	}
	if err != nil {
		return err
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		return input.Errorf(path, "a sum of "+sum.RatString(), "probabilities that sum to 1")
	}
	return nil
}

// branchName returns the name, in a file, of the destination of a branch of class c: the station,
// station/class if the class changes, or out.
func (m *Model) branchName(c int, b Branch) string {
	if b.Class == Leaves {
		return out
	}
	name := m.Stations[m.Classes[b.Class].Visits[b.Visit].Station].Name
	if b.Class != c {
		name += "/" + m.Classes[b.Class].Name
	}
	return name
}

// classNames lists the names of the first few classes, for a message.
func (m *Model) classNames(classes []int) string {
	var names []string
	for _, c := range classes[:min(len(classes), 10)] {
		names = append(names, input.Quote(m.Classes[c].Name))
	}
	if len(classes) > 10 {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// visitors returns the classes that visit each station, in increasing order.
func (m *Model) visitors() [][]int {
	list := make([][]int, len(m.Stations))
	for c := range m.Classes {
		for _, v := range m.Classes[c].Visits {
			list[v.Station] = append(list[v.Station], c)
		}
	}
	return list
}

// disjointOrNested reports whether two increasing lists of classes are disjoint or one contains the
// other.
func disjointOrNested(a, b []int) bool {
	common := 0
	for _, c := range a {
		if _, found := slices.BinarySearch(b, c); found {
			common++
		}
	}
	return common == 0 || common == len(a) || common == len(b)
}
