package plot

import (
	"errors"
	"math/big"
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
)

// A counted is a group of servers and the sizes at which a cluster is drawn.
type counted struct {
	group string
	sizes []*big.Rat // integers; nil without the flag
}

// parseCounted reads GROUP=FROM:TO or GROUP=FROM:TO:STEP.
func parseCounted(text string) (c counted, ok bool) {
	at := strings.LastIndex(text, "=")
	if at <= 0 {
		return c, false
	}
	sizes := text[at+1:]
	if strings.Count(sizes, ":") == 1 {
		sizes += ":1"
	}
	c.group = text[:at]
	c.sizes, ok = command.ParseFactors(sizes)
	const most = 1_000_000 // as in the file of a cluster
	bad := func(v *big.Rat) bool { return !v.IsInt() || v.Sign() <= 0 || v.Cmp(big.NewRat(most, 1)) > 0 }
	return c, ok && !slices.ContainsFunc(c.sizes, bad)
}

// parsePopulation reads FROM:TO, or FROM:TO:STEP, after CLASS= or not.
func parsePopulation(text string) (c counted, ok bool) {
	if strings.Contains(text, "=") {
		return parseCounted(text)
	}
	c, ok = parseCounted("x=" + text)
	c.group = ""
	return c, ok
}

// explain names the flag in an error about the model with one of its sizes.
func (c counted) explain(err error, size *big.Rat) error {
	var bad *input.Error
	if c.sizes == nil || !errors.As(err, &bad) {
		return err
	}
	return cli.FlagError{Err: input.Errorf("--count", c.group+"="+size.RatString(),
		"a number of servers that suits the classes: with this one %s = %s; want %s", bad.Path, bad.Value, bad.Want)}
}

// row returns the row of the group in a model.
func (c counted) row(m *cluster.Model) (int, error) {
	return command.RowOf("count", c.group, "the name of a row of servers", m.Servers,
		func(s cluster.Server) string { return s.Name })
}

// at returns the model with another number of servers in a row, all of which serve the classes that
// all servers of the row served before.
func (c counted) at(m *cluster.Model, row int, size *big.Rat) *cluster.Model {
	other := *m
	other.Servers = slices.Clone(m.Servers)
	other.Servers[row].Count = int(size.Num().Int64())
	other.Classes = slices.Clone(m.Classes)
	for i := range other.Classes {
		class := &other.Classes[i]
		class.Servers = slices.Clone(class.Servers)
		for k, choice := range class.Servers {
			if choice.Server == row && choice.Choose == m.Servers[row].Size() {
				class.Servers[k].Choose = other.Servers[row].Size()
			}
		}
	}
	return &other
}
