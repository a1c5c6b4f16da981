package loss

import (
	"fmt"
	"math/big"
	"strconv"

	"productform/internal/input"
	"productform/internal/ranktable"
	"productform/num"
)

const (
	maxUnits   = 10_000_000 // servers, units, sources and tokens
	maxClasses = 1000
	maxServers = 10_000 // with names
)

var (
	wantUnits   = fmt.Sprintf("an integer from 1 to %d", maxUnits)
	wantServers = fmt.Sprintf("an integer from 1 to %d", maxServers)
	wantSources = fmt.Sprintf("an integer from 1 to %d; leave it out for Poisson arrivals", maxUnits)
)

const countNeedsTokens = "tokens as well, or one server of the total capacity"

// Check reports whether the model makes sense. The error is a *[num.InputError] for the first entry, in the order of the file, that does not:
//
//   - there are 1 to 1000 classes, and at most 10,000 servers and 1000 limits; classes and servers have names of their own among their kind;
//   - λ_k >= 0, σ_k > 0, C_s >= 0, with numerators and denominators of at most 16,384 bits;
//   - all counts are from 1 to 10,000,000, or 0 where that stands for something;
//   - with Servers, each class has some, none twice, at least one of them of positive capacity; without, none;
//   - with Rank, there are at most 20 classes, each non-empty set of them has one rate, and no rate falls when a class joins;
//   - limits have classes, none twice, no two limits the same ones, and let each class in at least once;
//   - only servers with tokens have a count above 1, and all counts add up to at most 10,000;
//   - with tokens, every server has some and a positive capacity, all classes have one mean size, and nothing else limits the jobs: no room, limits, units or sources.
func (m *Model) Check() error {
	if m.Count < 0 || m.Count > maxUnits {
		return input.Errorf("servers", m.Count, "%s", wantUnits)
	}
	if m.Count > 0 && len(m.Servers) > 0 {
		return input.Errorf("servers", m.Count, "a number of equal servers, or servers with names, not both")
	}
	if len(m.Rank) > 0 && (m.Count > 0 || len(m.Servers) > 0) {
		return input.Errorf("rank", fmt.Sprintf("%d rates", len(m.Rank)), "servers or a rank function, not both")
	}
	if err := m.checkServers(); err != nil {
		return err
	}
	if m.Room < 0 || m.Room > maxUnits {
		return input.Errorf("room", m.Room, "%s", wantUnits)
	}
	if len(m.Classes) == 0 {
		return input.Errorf("classes", "[]", "at least one class")
	}
	if len(m.Classes) > maxClasses {
		return input.Errorf("classes", fmt.Sprintf("%d of them", len(m.Classes)), "at most %d classes", maxClasses)
	}
	names := make(map[string]int, len(m.Classes))
	for k := range m.Classes {
		if err := input.CheckName(names, "classes", k, m.Classes[k].Name); err != nil {
			return err
		}
		if err := m.checkClass(k); err != nil {
			return err
		}
	}
	if err := m.checkRank(); err != nil {
		return err
	}
	if len(m.Limits) > maxClasses {
		return input.Errorf("limits", fmt.Sprintf("%d of them", len(m.Limits)), "at most %d limits", maxClasses)
	}
	first := make(map[string]int, len(m.Limits))
	for l := range m.Limits {
		if err := m.checkLimit(l, first); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) checkServers() error {
	if len(m.Servers) > maxServers {
		return input.Errorf("servers", fmt.Sprintf("%d of them", len(m.Servers)), "at most %d servers", maxServers)
	}
	names, all := make(map[string]int, len(m.Servers)), 0
	for s, server := range m.Servers {
		if err := input.CheckName(names, "servers", s, server.Name); err != nil {
			return err
		}
		path, want := input.Index("servers", s), input.Nonnegative
		if m.hasTokens() {
			want = input.Positive
		}
		if err := input.CheckNumber(path+".capacity", server.Capacity, want); err != nil {
			return err
		}
		if server.Tokens < 0 || server.Tokens > maxUnits {
			return input.Errorf(path+".tokens", server.Tokens, "%s", wantUnits)
		}
		if (server.Tokens > 0) != m.hasTokens() {
			return input.Errorf(path+".tokens", server.Tokens, "tokens at every server, or at none")
		}
		if server.Count < 0 || server.Count > maxServers {
			return input.Errorf(path+".count", server.Count, "%s", wantServers)
		}
		if server.Count > 1 && !m.hasTokens() {
			return input.Errorf(path+".count", server.Count, countNeedsTokens)
		}
		if all += server.Size(); all > maxServers {
			return input.Errorf(path+".count", server.Count, "at most %d servers in total", maxServers)
		}
	}
	switch {
	case !m.hasTokens():
		return nil
	case m.Room > 0:
		return input.Errorf("room", m.Room, "no room beside tokens, which limit the jobs")
	case len(m.Limits) > 0:
		return input.Errorf("limits", fmt.Sprintf("%d of them", len(m.Limits)), "no limits beside tokens, which limit the jobs")
	}
	return nil
}

func (m *Model) checkClass(k int) error {
	c, path := &m.Classes[k], input.Index("classes", k)
	if err := input.CheckNumber(path+".arrival_rate", c.ArrivalRate, input.Nonnegative); err != nil {
		return err
	}
	if c.Sources < 0 || c.Sources > maxUnits {
		return input.Errorf(path+".sources", c.Sources, "%s", wantSources)
	}
	if c.MeanSize != nil {
		if err := input.CheckNumber(path+".mean_size", c.MeanSize, input.Positive); err != nil {
			return err
		}
	}
	if c.Units < 0 || c.Units > maxUnits {
		return input.Errorf(path+".units", c.Units, "%s", wantUnits)
	}
	if m.Room > 0 && c.units() > m.Room {
		return input.Errorf(path+".units", c.units(), "at most the room of %d, or its jobs never fit", m.Room)
	}
	if m.hasTokens() {
		switch first := &m.Classes[0]; {
		case c.Sources > 0:
			return input.Errorf(path+".sources", c.Sources, "no sources beside tokens")
		case c.units() > 1:
			return input.Errorf(path+".units", c.Units, "one unit beside tokens: each job takes one")
		case num.OrOne(c.MeanSize).Cmp(num.OrOne(first.MeanSize)) != 0:
			return input.Errorf(path+".mean_size", num.OrOne(c.MeanSize).RatString(), "the mean size of all classes, %s: servers do not tell classes apart", num.OrOne(first.MeanSize).RatString())
		}
	}
	return m.checkCompatible(c, path+".servers")
}

func (m *Model) checkCompatible(c *Class, path string) error {
	if len(m.Servers) == 0 {
		if len(c.Servers) > 0 {
			return input.Errorf(path, fmt.Sprint(c.Servers), "none: the model has no servers with names")
		}
		return nil
	}
	if len(c.Servers) == 0 {
		return input.Errorf(path, "[]", "at least one server")
	}
	served, seen := false, make([]bool, len(m.Servers))
	for j, s := range c.Servers {
		if s < 0 || s >= len(m.Servers) {
			return input.Errorf(input.Index(path, j), s, "a row of servers, 0 to %d", len(m.Servers)-1)
		}
		if seen[s] {
			return input.Errorf(input.Index(path, j), strconv.Quote(m.Servers[s].Name), "each server once; it is in this class already")
		}
		seen[s] = true
		served = served || m.Servers[s].Capacity.Sign() > 0
	}
	if !served {
		return input.Errorf(path, fmt.Sprintf("%d without capacity", len(c.Servers)), "a server of positive capacity")
	}
	return nil
}

// checkRank refuses a rank function that has not one rate for each non-empty set of classes, or falls when a class joins.
func (m *Model) checkRank() error {
	if len(m.Rank) == 0 {
		return nil
	}
	n := len(m.Classes)
	if n > maxSets {
		return tooManySets("classes", n)
	}
	rate, row := make([]*big.Rat, 1<<n), make([]int, 1<<n)
	for r, x := range m.Rank {
		path, set := input.Index("rank", r), 0
		for j, k := range x.Classes {
			at := input.Index(path+".classes", j)
			if k < 0 || k >= n {
				return input.Errorf(at, k, "a row of classes, 0 to %d", n-1)
			}
			if set>>k&1 == 1 {
				return input.Errorf(at, strconv.Quote(m.Classes[k].Name), "each class once; it is in this set already")
			}
			set |= 1 << k
		}
		if set == 0 {
			return input.Errorf(path+".classes", "[]", "at least one class")
		}
		if err := input.CheckNumber(path+".rate", x.Rate, input.Positive); err != nil {
			return err
		}
		if rate[set] != nil {
			return input.Errorf(path+".classes", m.classNames(x.Classes), "each set once; %s is the same", input.Index("rank", row[set]))
		}
		rate[set], row[set] = x.Rate, r
	}
	for set := 1; set < len(rate); set++ {
		if rate[set] == nil {
			return input.Errorf("rank", fmt.Sprintf("%d rates", len(m.Rank)), "one rate for each of the %d sets of classes; that of %s is missing", len(rate)-1, m.classNames(ranktable.Members(set)))
		}
		for _, k := range ranktable.Members(set) {
			if less := rate[set&^(1<<k)]; less != nil && less.Cmp(rate[set]) > 0 {
				return input.Errorf(input.Index("rank", row[set])+".rate", rate[set].RatString(), "at least %s, the rate without %s", less.RatString(), input.Quote(m.Classes[k].Name))
			}
		}
	}
	return nil
}

// checkLimit checks limit l; first has the limits before it by their sets of classes.
func (m *Model) checkLimit(l int, first map[string]int) error {
	limit, path := m.Limits[l], input.Index("limits", l)
	if len(limit.Classes) == 0 {
		return input.Errorf(path+".classes", "[]", "at least one class")
	}
	if limit.Most < 1 || limit.Most > maxUnits {
		return input.Errorf(path+".most", limit.Most, "%s", wantUnits)
	}
	in := make([]byte, len(m.Classes)) // 1 for the classes of the limit
	for j, k := range limit.Classes {
		at := input.Index(path+".classes", j)
		if k < 0 || k >= len(m.Classes) {
			return input.Errorf(at, k, "a row of classes, 0 to %d", len(m.Classes)-1)
		}
		name := strconv.Quote(m.Classes[k].Name)
		if in[k] == 1 {
			return input.Errorf(at, name, "each class once; it is in this limit already")
		}
		in[k] = 1
		if b := m.Classes[k].units(); b > limit.Most {
			return input.Errorf(path+".most", limit.Most, "at least %d, the units of a job of %s, or its jobs never fit", b, name)
		}
	}
	if other, ok := first[string(in)]; ok {
		return input.Errorf(path+".classes", m.classNames(limit.Classes), "other classes than those of %s", input.Index("limits", other))
	}
	first[string(in)] = l
	if m.Room > 0 && len(limit.Classes) == len(m.Classes) {
		return input.Errorf(path+".classes", m.classNames(limit.Classes),
			"not all classes, whose limit is the room: write room: %d", min(m.Room, limit.Most))
	}
	return nil
}

// classNames lists the names of the first few classes of a set, for a message.
func (m *Model) classNames(classes []int) string {
	var names []string
	for _, k := range classes[:min(len(classes), 10)] {
		names = append(names, input.Quote(m.Classes[k].Name))
	}
	return fmt.Sprint(names)
}
