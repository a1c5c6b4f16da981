package plot

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/cluster"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
	"productform/plots"
)

// A chosen selects the classes of a cluster to draw: by name, or a number of classes with the
// longest mean delays at the greatest load. The zero value selects all.
type chosen struct {
	names []string
	worst int
}

// parseChosen reads NAMES, or worst:N.
func parseChosen(text string) (c chosen, ok bool) {
	if count, ok := strings.CutPrefix(text, "worst:"); ok {
		n, err := strconv.Atoi(count)
		return chosen{worst: n}, err == nil && n > 0
	}
	c.names = strings.Split(text, ",")
	return c, !slices.Contains(c.names, "")
}

// areAll reports whether no class is omitted.
func (c chosen) areAll() bool { return c.names == nil && c.worst == 0 }

// rows returns the rows of the names, or of all classes, in the order of the model.
func (c chosen) rows(m *cluster.Model) (rows []int, err error) {
	var names []string
	for i, k := range m.Classes {
		if names = append(names, k.Name); c.names == nil || slices.Contains(c.names, k.Name) {
			rows = append(rows, i)
		}
	}
	for i, name := range c.names {
		if !slices.Contains(names, name) {
			return nil, cli.FlagError{Err: input.Errorf(input.Index("--classes", i), name,
				"%s", file.WantName("worst:N, or the name of a class", name, names))}
		}
	}
	return rows, nil
}

// longest returns the rows with the longest mean delays, if the flag limits their number.
func (c chosen) longest(rows []int, delay func(i int) *float64) []int {
	if c.worst == 0 || c.worst >= len(rows) {
		return rows
	}
	of := func(i int) float64 {
		if d := delay(i); d != nil {
			return *d
		}
		return -1
	}
	slices.SortStableFunc(rows, func(i, k int) int { return cmp.Compare(of(k), of(i)) })
	return slices.Sorted(slices.Values(rows[:c.worst]))
}

// serversOf returns the rows of servers that are drawn with classes: all servers with all classes,
// otherwise those that the classes can use.
func (c chosen) serversOf(m *cluster.Model, classes []int) (rows []int) {
	used := make([]bool, len(m.Servers))
	for _, i := range classes {
		for _, choice := range m.Classes[i].Servers {
			used[choice.Server] = true
		}
	}
	for s := range m.Servers {
		if used[s] || c.areAll() {
			rows = append(rows, s)
		}
	}
	return rows
}

// caption lists the drawn classes, unless all are drawn.
func (c chosen) caption(count, of int, last *big.Rat) string {
	switch {
	case c.areAll() || c.worst >= of:
		return ""
	case c.worst > 0:
		return fmt.Sprintf(" The picture shows the %d of %d classes that have the longest mean delays at load %s, "+
			"and the servers that these can use.", c.worst, of, plots.Short(float(last)))
	}
	return fmt.Sprintf(" The picture shows %d of %d classes, and the servers that these can use.", count, of)
}
