package network

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
)

// disciplines lists all disciplines in the order in which messages name them.
var disciplines = []Discipline{Delay, Sharing, FCFS, LCFS, Random, Order, Balanced}

// otherNames maps names used by other programs to disciplines.
var otherNames = map[string]Discipline{
	"ps": Sharing, "is": Delay, "inf": Delay, "fifo": FCFS, "lifo": LCFS, "lcfspr": LCFS, "siro": Random,
	"oi": Order, "bf": Balanced,
}

const wantService = "nodes, limits or rank"

// check rejects a station whose fields are each in range but contradict each other.
func (s *Station) check(path string) error {
	if s.Name == out {
		return input.Errorf(path+".name", strconv.Quote(out), "another name; this is the way out of the network")
	}
	if err := s.checkFields(path); err != nil {
		return err
	}
	if s.Limits != nil && s.Servers == 0 {
		return input.Errorf(path+".servers", "", "the number of servers that limits share")
	}
	if s.Rates != nil && (len(s.Rates) == 0 || len(s.Rates) > maxRates) {
		return input.Errorf(path+".rates", fmt.Sprintf("%d numbers", len(s.Rates)),
			"1 to %d numbers, the total rate with 1, 2, ... jobs",
			maxRates)
	}
	return nil
}

// checkFields checks that a station has the fields of its discipline and no others.
func (s *Station) checkFields(path string) error {
	type field struct {
		name  string
		is    bool
		value string // name in error messages
	}
	given := []field{
		{"servers", s.Servers != 0, fmt.Sprint(s.Servers)}, {"rate", s.Rate != nil, "a rate"},
		{"rates", s.Rates != nil, "a list"}, {"nodes", s.Nodes != nil, "a list"}, {"limits", s.Limits != nil, "a list"},
		{"rank", s.Rank != nil, "a list"}, {"table", s.Table != nil, "a table"},
	}
	var allowed []string
	want := ""
	switch s.Discipline {
	case Delay:
		allowed, want = []string{"rate"}, "no such field with discipline delay, where each job has its own server"
	case Random:
		allowed, want = []string{"servers", "rate"}, "no such field with discipline random, which has servers and rate"
	case Sharing, FCFS, LCFS:
		allowed, want = []string{"servers", "rate", "rates"}, "no such field with discipline "+
			string(s.Discipline)+", which has servers and rate, or rates"
		if s.Rates != nil {
			allowed, want = []string{"rates"}, "either rates, or servers and rate"
		}
	default:
		services := 0
		for _, is := range []bool{s.Nodes != nil, s.Limits != nil, s.Rank != nil, s.Table != nil &&
			s.Discipline == Balanced} {
			if is {
				services++
			}
		}
		list := wantService
		if s.Discipline == Balanced {
			list = "nodes, limits, rank or table"
		}
		if services != 1 {
			return input.Errorf(path, input.Quote(s.Name), "exactly one of %s with discipline %s; this station has %d",
				list, s.Discipline, services)
		}
		allowed, want = []string{"nodes", "limits", "rank"}, "no such field with "
		switch {
		case s.Limits != nil:
			allowed, want = []string{"limits", "servers", "rate"}, want+"limits"
		case s.Nodes != nil:
			want += "nodes"
		case s.Rank != nil:
			want += "rank"
		default:
			allowed, want = []string{"table"}, want+"table"
		}
	}
	for _, g := range given {
		if g.is && !slices.Contains(allowed, g.name) {
			return input.Errorf(path+"."+g.name, g.value, "%s", want)
		}
	}
	return nil
}

// checkSets checks the sets of classes of stations; the classes have passed all other checks.
func (m *Model) checkSets() error {
	visitors := m.visitors()
	for i := range m.Stations {
		s, path := &m.Stations[i], input.Index("stations", i)
		if err := m.checkLimits(path+".limits", s, visitors[i]); err != nil {
			return err
		}
		if s.Rank != nil {
			if err := m.checkRank(path+".rank", s, visitors[i]); err != nil {
				return err
			}
		}
		if s.Table != nil {
			if err := m.checkTable(path+".table", s.Table, visitors[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSet checks a list of classes that visit a station, and returns it in increasing order.
func (m *Model) checkSet(path string, set, visitors []int) ([]int, error) {
	seen := make(map[int]bool, len(set))
	for k, c := range set {
		if _, visits := slices.BinarySearch(visitors, c); !visits {
			return nil, input.Errorf(
				input.Index(path, k), strconv.Quote(m.Classes[c].Name), "a class that visits the station",
			)
		}
		if seen[c] {
			return nil, input.Errorf(input.Index(path, k), strconv.Quote(m.Classes[c].Name), "each class once")
		}
		seen[c] = true
	}
	sorted := slices.Clone(set)
	slices.Sort(sorted)
	return sorted, nil
}

func (m *Model) checkLimits(path string, s *Station, visitors []int) error {
	var sets [][]int
	for k, l := range s.Limits {
		path := input.Index(path, k)
		set, err := m.checkSet(path+".classes", l.Classes, visitors)
		if err != nil {
			return err
		}
		for j, other := range sets {
			if slices.Equal(set, other) {
				return input.Errorf(path+".classes", "["+m.classNames(set)+"]",
					"a set without a limit; limits[%d] has this one",
					j)
			}
			if !disjointOrNested(set, other) {
				return input.Errorf(path+".classes", "["+m.classNames(set)+"]",
					"a set that holds that of limits[%d], lies in it, or has no class in common with it",
					j)
			}
		}
		sets = append(sets, set)
	}
	return nil
}

func (m *Model) checkRank(path string, s *Station, visitors []int) error {
	if len(visitors) > maxRankClasses {
		return input.Errorf(path, fmt.Sprintf("%d classes", len(visitors)),
			"at most %d that visit the station, since it has a row for every set",
			maxRankClasses)
	}
	rank := make([]*big.Rat, 1<<len(visitors))
	row := make([]int, len(rank))
	for k, r := range s.Rank {
		path := input.Index(path, k)
		set, err := m.checkSet(path+".classes", r.Classes, visitors)
		if err != nil {
			return err
		}
		mask := maskOf(set, visitors)
		if rank[mask] != nil {
			return input.Errorf(path+".classes", "["+m.classNames(set)+"]", "each set once; rank[%d] has this one",
				row[mask])
		}
		rank[mask], row[mask] = r.Rate, k
	}
	for mask := 1; mask < len(rank); mask++ {
		if rank[mask] == nil {
			return input.Errorf(path, fmt.Sprintf("%d sets", len(s.Rank)),
				"every set of the %d classes that visit the station, %d in total; missing: %s",
				len(visitors), len(rank)-1, m.classNames(membersOf(mask, visitors)))
		}
		for k := range visitors {
			if less := mask &^ (1 << k); less != 0 && rank[less] != nil && rank[less].Cmp(rank[mask]) > 0 {
				return input.Errorf(input.Index(path, row[mask])+".rate", rank[mask].RatString(),
					"at least %s, the rate without %s: more classes cannot slow a station down",
					rank[less].RatString(), input.Quote(m.Classes[visitors[k]].Name))
			}
		}
	}
	return nil
}

// maskOf returns the set as bits, bit k for visitors[k].
func maskOf(set, visitors []int) int {
	mask := 0
	for _, c := range set {
		mask |= 1 << slices.Index(visitors, c)
	}
	return mask
}

func membersOf(mask int, visitors []int) (set []int) {
	for _, k := range ranktable.Members(mask) {
		set = append(set, visitors[k])
	}
	return set
}

func (m *Model) checkTable(path string, t *Table, visitors []int) error {
	set, err := m.checkSet(path+".classes", t.Classes, visitors)
	if err != nil {
		return err
	}
	if len(set) != len(visitors) {
		return input.Errorf(path+".classes", "["+m.classNames(t.Classes)+"]", "all classes that visit the station: %s",
			m.classNames(visitors))
	}
	if len(t.Most) != len(t.Classes) {
		return input.Errorf(path+".most", fmt.Sprintf("%d numbers", len(t.Most)), "%d, one for each class",
			len(t.Classes))
	}
	chains := m.components()
	states := 1
	for k, c := range t.Classes {
		if !chains.closed(c) {
			return input.Errorf(
				input.Index(path+".classes", k), strconv.Quote(m.Classes[c].Name),
				"classes of closed chains; a table ends",
			)
		}
		if population := chains.population[chains.of[c]]; t.Most[k] < population || t.Most[k] >= maxTable {
			return input.Errorf(input.Index(path+".most", k), t.Most[k],
				"an integer from %d, the jobs in the chain of %s, to %d",
				population, input.Quote(m.Classes[c].Name), maxTable-1)
		}
		if states *= t.Most[k] + 1; states > maxTable {
			return input.Errorf(path+".most", fmt.Sprint(t.Most), "a table of at most %d states", maxTable)
		}
	}
	switch {
	case (t.Balance == nil) == (t.Rates == nil):
		return input.Errorf(path, "one with both or neither", "either balance or rates")
	case t.Balance != nil && len(t.Balance) != states:
		return input.Errorf(path+".balance", fmt.Sprintf("%d numbers", len(t.Balance)), "%d, one for each state",
			states)
	case t.Rates != nil && len(t.Rates) != states:
		return input.Errorf(path+".rates", fmt.Sprintf("%d rows", len(t.Rates)), "%d, one for each state", states)
	}
	if t.Balance != nil && t.Balance[0].Cmp(big.NewRat(1, 1)) != 0 {
		return input.Errorf(path+".balance[0]", t.Balance[0].RatString(), "1")
	}
	return t.checkRates(path + ".rates")
}

// checkRates checks the rates, which have a row for each state.
func (t *Table) checkRates(path string) error {
	box, x := lattice.LastFastest(t.Most), make([]int, len(t.Classes))
	for row, rates := range t.Rates {
		path := input.Index(path, row)
		if len(rates) != len(x) {
			return input.Errorf(path, fmt.Sprintf("%d numbers", len(rates)), "%d, one for each class", len(x))
		}
		for k, r := range rates {
			if x[k] == 0 {
				if r != nil && r.Sign() != 0 {
					return input.Errorf(input.Index(path, k), r.RatString(),
						"0: there is no job of the class in state %v",
						x)
				}
			} else if err := input.CheckNumber(input.Index(path, k), r, input.Positive); err != nil {
				return err
			}
		}
		box.Next(x)
	}
	return nil
}
