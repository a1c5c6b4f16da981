package command

import (
	"math/big"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/num"
)

// A Percentile is one that is asked for.
type Percentile struct {
	Name  string   // p99.9, the field of an answer
	Level *big.Rat // 999/1000
}

const mostPercentiles = 100

// AddPercentiles adds --percentiles, a list of numbers between 0 and 100.
func AddPercentiles(cmd *cobra.Command, target *[]Percentile, usage string) {
	cli.AddList(cmd, target, mostPercentiles, cli.Flag[[]Percentile]{Name: "percentiles", Usage: usage + ", such as `50,95,99.9`",
		Want: "a number > 0 and < 100", Parse: parsePercentile})
}

func parsePercentile(word string) (list []Percentile, ok bool) {
	hundred := big.NewRat(100, 1)
	v, err := num.ParseRat(word)
	if err != nil || v.Sign() <= 0 || v.Cmp(hundred) >= 0 {
		return nil, false
	}
	name := v.RatString()
	if places, exact := v.FloatPrec(); exact {
		name = v.FloatString(places)
	}
	return []Percentile{{"p" + name, v.Quo(v, hundred)}}, true
}

// CheckPercentiles returns an error for one that stands twice in the list.
func CheckPercentiles(list []Percentile) error {
	places := make(map[string]int)
	for i, p := range list {
		if first, twice := places[p.Name]; twice {
			return input.Errorf(input.Index("--percentiles", i), p.Name[1:], "each percentile once; --percentiles[%d] is the same", first)
		}
		places[p.Name] = i
	}
	return nil
}

// Levels returns the levels in double precision, with an error for one that is 0 or 1 there.
func Levels(list []Percentile) (levels []float64, err error) {
	for i, p := range list {
		v, _ := p.Level.Float64()
		if !(v > 0 && v < 1) {
			return nil, input.Errorf(input.Index("--percentiles", i), p.Name[1:], "a number whose hundredth is > 0 and < 1 in double precision")
		}
		levels = append(levels, v)
	}
	return levels, nil
}
