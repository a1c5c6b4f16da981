package loss

import (
	"fmt"
	"math/big"
	"strconv"

	"productform/internal/input"
	"productform/internal/ranktable"
	"productform/num"
)

const countNeedsTokens = "tokens as well, or one server of the total capacity"

// Check reports whether the model is valid. The error is a *[num.InputError] for the first entry,
// in the order of the file, that violates a rule:
//
//   - there are 1 to 1000 classes, and at most 10,000 servers and 1000 limits; classes and
//     servers have unique names among their kind;
//   - λ_k >= 0, σ_k > 0, C_s >= 0, with numerators and denominators of at most 16,384 bits;
//   - all counts are from 1 to 10,000,000, or 0 if that has a meaning;
//   - with Servers, each class has some, none twice, at least one of them of positive capacity;
//     without, none;
//   - with Rank, there are at most 20 classes, each non-empty set of them has one rate, and no rate
//     falls when a class joins;
//   - each limit has classes, none twice, no two limits have the same classes, and every limit
//     admits at least one job of each class;
//   - only servers with tokens have a count above 1, and all counts add up to at most 10,000;
//   - with tokens, every server has some and a positive capacity, all classes have one mean size,
//     and nothing else limits the jobs: no room, limits, units or sources.
func (m *Model) Check() error { return modelFile.CheckAll(m) }

// checkConditions rejects fields that are each in range but contradict each other.
func (m *Model) checkConditions() error {
	switch {
	case m.Count > 0 && len(m.Servers) > 0:
		return input.Errorf("servers", m.Count, "a number of equal servers, or servers with names, not both")
	case len(m.Rank) > 0 && (m.Count > 0 || len(m.Servers) > 0):
		return input.Errorf("rank", fmt.Sprintf("%d rates", len(m.Rank)), "servers or a rank function, not both")
	}
	if err := m.checkServers(); err != nil {
		return err
	}
	for k := range m.Classes {
		if err := m.checkClass(k); err != nil {
			return err
		}
	}
	if err := m.checkRank(); err != nil {
		return err
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
	all := 0
	for s, server := range m.Servers {
		path := input.Index("servers", s)
		switch {
		case m.hasTokens() && server.Capacity.Sign() == 0:
			return input.Errorf(path+".capacity", server.Capacity.RatString(), input.Positive)
		case (server.Tokens > 0) != m.hasTokens():
			return input.Errorf(path+".tokens", server.Tokens, "tokens at every server, or at none")
		case server.Count > 1 && !m.hasTokens():
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
		return input.Errorf("room", m.Room, "no room with tokens, which limit the jobs")
	case len(m.Limits) > 0:
		return input.Errorf(
			"limits", fmt.Sprintf("%d of them", len(m.Limits)), "no limits with tokens, which limit the jobs",
		)
	}
	return nil
}

func (m *Model) checkClass(k int) error {
	c, path := &m.Classes[k], input.Index("classes", k)
	if m.Room > 0 && c.units() > m.Room {
		return input.Errorf(path+".units", c.units(), "at most the room of %d, or its jobs never fit", m.Room)
	}
	if m.hasTokens() {
		switch first := &m.Classes[0]; {
		case c.Sources > 0:
			return input.Errorf(path+".sources", c.Sources, "no sources with tokens")
		case c.units() > 1:
			return input.Errorf(path+".units", c.Units, "one unit with tokens: each job takes one")
		case num.OrOne(c.MeanSize).Cmp(num.OrOne(first.MeanSize)) != 0:
			return input.Errorf(path+".mean_size", num.OrOne(c.MeanSize).RatString(),
				"the mean size of all classes, %s: servers do not distinguish classes",
				num.OrOne(first.MeanSize).RatString())
		}
	}
	return m.checkCompatible(c, path+".servers")
}

func (m *Model) checkCompatible(c *Class, path string) error {
	switch {
	case len(m.Servers) == 0 && len(c.Servers) > 0:
		return input.Errorf(path, fmt.Sprint(c.Servers), "none: the model has no servers with names")
	case len(m.Servers) == 0:
		return nil
	case len(c.Servers) == 0:
		return input.Errorf(path, "[]", "at least one server")
	}
	for _, s := range c.Servers {
		if m.Servers[s].Capacity.Sign() > 0 {
			return nil
		}
	}
	return input.Errorf(path, fmt.Sprintf("%d without capacity", len(c.Servers)), "a server of positive capacity")
}

// checkRank rejects a rank function that lacks or repeats the rate of a non-empty set of classes,
// or that falls when a class joins.
func (m *Model) checkRank() error {
	if len(m.Rank) == 0 {
		return nil
	}
	n := len(m.Classes)
	if n > maxSets {
		return setLimitError("classes", n)
	}
	rate, row := make([]*big.Rat, 1<<n), make([]int, 1<<n)
	for r, x := range m.Rank {
		set := ranktable.Mask(x.Classes)
		if rate[set] != nil {
			return input.Errorf(input.Index("rank", r)+".classes", m.classNames(x.Classes),
				"each set once; %s is the same", input.Index("rank", row[set]))
		}
		rate[set], row[set] = x.Rate, r
	}
	for set := 1; set < len(rate); set++ {
		if rate[set] == nil {
			return input.Errorf("rank", fmt.Sprintf("%d rates", len(m.Rank)),
				"one rate for each of the %d sets of classes; that of %s is missing",
				len(rate)-1, m.classNames(ranktable.Members(set)))
		}
		for _, k := range ranktable.Members(set) {
			if less := rate[set&^(1<<k)]; less != nil && less.Cmp(rate[set]) > 0 {
				return input.Errorf(input.Index("rank", row[set])+".rate",
					rate[set].RatString(), "at least %s, the rate without %s",
					less.RatString(), input.Quote(m.Classes[k].Name))
			}
		}
	}
	return nil
}

// checkLimit checks limit l; first holds the earlier limits by their sets of classes.
func (m *Model) checkLimit(l int, first map[string]int) error {
	limit, path := m.Limits[l], input.Index("limits", l)
	in := make([]byte, len(m.Classes)) // 1 for the classes of the limit
	for _, k := range limit.Classes {
		in[k] = 1
		if b := m.Classes[k].units(); b > limit.Most {
			return input.Errorf(path+".most", limit.Most,
				"at least %d, the units of a job of %s, or its jobs never fit",
				b, strconv.Quote(m.Classes[k].Name))
		}
	}
	if other, ok := first[string(in)]; ok {
		return input.Errorf(path+".classes", m.classNames(limit.Classes), "classes other than those of %s",
			input.Index("limits", other))
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
