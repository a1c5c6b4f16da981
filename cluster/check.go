package cluster

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"productform/internal/input"
)

const (
	maxCount = 1_000_000 // servers a group may hold
	maxBits  = 16_384    // bits of a numerator or denominator: as a fraction, under 10,000 characters
)

// Check reports whether the model makes sense. It returns nil or an error that wraps an
// *[InputError] for the first entry, in the order of the file, that does not:
//
//   - there are servers and classes, each with a name of its own among its kind, in UTF-8
//     without control characters;
//   - C_s >= 0, λ_i >= 0 and σ > 0, with numerators and denominators of at most 16,384 bits;
//   - a row of servers counts 1 to 1,000,000 (0 stands for 1);
//   - each class has servers, none twice, and at least one of them has a positive capacity;
//   - of each row a class chooses between one server and all.
//
// Fields are named as in a file: classes[3].arrival_rate. The readers call Check. It takes
// time linear in the model.
func (m *Model) Check() error {
	if len(m.Servers) == 0 {
		return input.Errorf("servers", "[]", "at least one server")
	}
	names := make(map[string]int, len(m.Servers))
	for i, s := range m.Servers {
		path := index("servers", i)
		if err := checkName(names, "servers", i, s.Name); err != nil {
			return err
		}
		if s.Count < 0 || s.Count > maxCount {
			return input.Errorf(path+".count", s.Count, "%s", wantCount)
		}
		if err := checkNumber(path+".capacity", s.Capacity, wantNonnegative); err != nil {
			return err
		}
	}
	if len(m.Classes) == 0 {
		return input.Errorf("classes", "[]", "at least one class")
	}
	clear(names)
	lastUse := make([]int, len(m.Servers)) // 1 + the last class that chose from the row
	for i, c := range m.Classes {
		if err := checkName(names, "classes", i, c.Name); err != nil {
			return err
		}
		path := index("classes", i)
		if err := checkNumber(path+".arrival_rate", c.ArrivalRate, wantNonnegative); err != nil {
			return err
		}
		if err := m.checkChoices(path+".servers", i, lastUse); err != nil {
			return err
		}
	}
	if m.MeanSize != nil {
		return checkNumber("mean_size", m.MeanSize, wantPositive)
	}
	return nil
}

// The accepted ranges, in the words of every message about them.
const (
	wantNonnegative = "a number >= 0"
	wantPositive    = "a number > 0"
	wantName        = "a name in quotes, not empty"
	wantCount       = "an integer from 1 to 1000000"
)

// checkName refuses an empty name and one that names holds already, and adds it there.
func checkName(names map[string]int, kind string, i int, name string) error {
	path := index(kind, i) + ".name"
	if name == "" {
		return input.Errorf(path, `""`, wantName)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return input.Errorf(path, strconv.Quote(name), "a name in UTF-8 without control characters")
	}
	if first, ok := names[name]; ok {
		return input.Errorf(path, strconv.Quote(name), "a name of its own; %s has this one", index(kind, first))
	}
	names[name] = i
	return nil
}

// checkNumber refuses what is missing, out of the range or too long to be written.
func checkNumber(path string, x *big.Rat, want string) error {
	switch {
	case x == nil:
		return input.Errorf(path, "", "%s", want)
	case x.Sign() < 0, x.Sign() == 0 && want == wantPositive:
		return input.Errorf(path, x.RatString(), "%s", want)
	case x.Num().BitLen() > maxBits || x.Denom().BitLen() > maxBits:
		return input.Errorf(path, fmt.Sprintf("a fraction of %d over %d bits", x.Num().BitLen(), x.Denom().BitLen()),
			"at most %d bits in numerator and denominator", maxBits)
	}
	return nil
}

// checkChoices checks the servers of class i; lastUse finds repeated rows without sorting.
func (m *Model) checkChoices(path string, i int, lastUse []int) error {
	choices := m.Classes[i].Servers
	if len(choices) == 0 {
		return input.Errorf(path, "[]", "at least one server")
	}
	served := false
	for k, c := range choices {
		if c.Server < 0 || c.Server >= len(m.Servers) {
			return input.Errorf(index(path, k), c.Server, "a row of servers, 0 to %d", len(m.Servers)-1)
		}
		s := m.Servers[c.Server]
		if lastUse[c.Server] == i+1 {
			return input.Errorf(index(path, k), strconv.Quote(s.Name), "each server once; it is in this class already")
		}
		lastUse[c.Server] = i + 1
		if c.Choose < 1 || c.Choose > s.Size() {
			return input.Errorf(index(path, k)+".choose", c.Choose, "%s", wantChoose(s))
		}
		served = served || s.Capacity.Sign() > 0
	}
	if !served {
		return input.Errorf(path, m.serverNames(choices), "a server of positive capacity")
	}
	return nil
}

func wantChoose(s Server) string {
	if s.Size() == 1 {
		return fmt.Sprintf("1, for %s is one server", quoteShort(s.Name))
	}
	return fmt.Sprintf("an integer from 1 to %d, the servers in %s", s.Size(), quoteShort(s.Name))
}

// serverNames lists the names of the first few choices, for a message.
func (m *Model) serverNames(choices []Choice) string {
	var names []string
	for _, c := range choices[:min(len(choices), 10)] {
		names = append(names, quoteShort(m.Servers[c.Server].Name))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// quoteShort quotes a name for a message, cut at 40 characters.
func quoteShort(name string) string {
	if r := []rune(name); len(r) > 40 {
		name = string(r[:37]) + "..."
	}
	return strconv.Quote(name)
}
