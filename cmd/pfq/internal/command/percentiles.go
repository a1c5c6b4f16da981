package command

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// A Percentile is a requested percentile.
type Percentile struct {
	Name  string   // p99.9, the field of an answer
	Level *big.Rat // 999/1000
}

const mostPercentiles = 100

// AddPercentiles adds --percentiles, a list of numbers between 0 and 100.
func AddPercentiles(cmd *cobra.Command, target *[]Percentile, usage string) {
	cli.AddList(cmd, target, mostPercentiles, cli.Flag[[]Percentile]{Name: "percentiles",
		Usage: usage + ", such as `50,95,99.9`", Want: "a number > 0 and < 100", Parse: parsePercentile,
		Hint: hintPercentile})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		noteSmall(cmd.ErrOrStderr(), *target)
		return run(cmd, args)
	}
}

// AddWithin adds --within, a list of times at which probabilities are requested.
func AddWithin(cmd *cobra.Command, target *[]*big.Rat, what string) {
	cli.AddList(cmd, target, mostPercentiles, cli.Flag[[]*big.Rat]{
		Name: "within", Want: "a number >= 0, such as 0.25", Hint: cli.HintUnit,
		Usage: "also give the probabilities that " + what + " are at most these `TIMES`, such as 0.25,2",
		Parse: func(word string) ([]*big.Rat, bool) {
			v, err := num.ParseRat(word)
			return []*big.Rat{v}, err == nil && v.Sign() >= 0
		}})
}

// noteSmall explains percentiles below 1, since 0.95 may mean 95.
func noteSmall(stderr io.Writer, list []Percentile) {
	for _, p := range list {
		percent, _ := new(big.Rat).SetString(p.Name[1:])
		NoteSmallPercentile(stderr, "--percentiles", percent)
	}
}

// NoteSmallPercentile writes a note about a percentile below 1 in a flag or field, since 0.95 may
// mean 95.
func NoteSmallPercentile(stderr io.Writer, path string, percent *big.Rat) {
	if percent.Cmp(big.NewRat(1, 1)) < 0 {
		fmt.Fprintf(stderr, "pfq: note: %s %s is less than one per cent; did you mean %s?\n", path, numberText(percent),
			numberText(new(big.Rat).Mul(percent, big.NewRat(100, 1))))
	}
}

// numberText writes a fraction as a decimal if it has one.
func numberText(v *big.Rat) string {
	if places, exact := v.FloatPrec(); exact {
		return v.FloatString(places)
	}
	return v.RatString()
}

func parsePercentile(word string) (list []Percentile, ok bool) {
	hundred := big.NewRat(100, 1)
	v, err := num.ParseRat(word)
	if err != nil || v.Sign() <= 0 || v.Cmp(hundred) >= 0 {
		return nil, false
	}
	return []Percentile{{"p" + numberText(v), v.Quo(v, hundred)}}, true
}

// hintPercentile returns how to write a percentile given as a word such as p99 or 99%, or "" if the
// word is not understood.
func hintPercentile(word string) string {
	words := strings.FieldsFunc(word, func(r rune) bool { return r == ' ' || r == ';' || r == '\t' })
	for i, w := range words {
		plain := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(w), "p"), "%")
		if _, ok := parsePercentile(plain); !ok {
			return ""
		}
		words[i] = plain
	}
	if len(words) == 0 {
		return ""
	}
	return "write " + strings.Join(words, ",")
}

// CheckPercentiles rejects duplicates in the list.
func CheckPercentiles(list []Percentile) error {
	places := make(map[string]int)
	for i, p := range list {
		if first, twice := places[p.Name]; twice {
			return input.Errorf(input.Index("--percentiles", i), p.Name[1:],
				"each percentile once; --percentiles[%d] is the same", first)
		}
		places[p.Name] = i
	}
	return nil
}

// SetLevels sets the levels of the percentiles. The error names one that is listed twice, or whose
// level is 0 or 1 in double precision.
func SetLevels(s *sim.Settings, list []Percentile) error {
	if err := CheckPercentiles(list); err != nil {
		return err
	}
	s.Levels = nil
	for i, p := range list {
		v, _ := p.Level.Float64()
		if !(v > 0 && v < 1) {
			return input.Errorf(input.Index("--percentiles", i), p.Name[1:],
				"a number whose hundredth is > 0 and < 1 in double precision")
		}
		s.Levels = append(s.Levels, v)
	}
	return nil
}

// PercentileFields returns the values of percentiles as fields of an answer. They are null if
// values is nil.
func PercentileFields(asked []Percentile, values []num.Value, s render.Style) (fields render.Record) {
	for i, p := range asked {
		var v *num.Value
		if values != nil {
			v = &values[i]
		}
		fields = append(fields, render.Field{Key: p.Name, Value: s.Computed(v)})
	}
	return fields
}

// QuantileTables writes tables of percentiles, three per table. Each row begins with its
// name; a field of it holds the percentiles.
func QuantileTables(t *render.Text, rows []render.Record, key string) {
	var flat []render.Record
	var columns []string
	for _, row := range rows {
		one := slices.Clone(row[:1])
		delay, _ := row.Get(key).(render.Record)
		for _, f := range delay {
			f.Key = strings.TrimSuffix(key, "_percentiles") + "_" + f.Key
			if one = append(one, f); !slices.Contains(columns, f.Key) {
				columns = append(columns, f.Key)
			}
		}
		flat = append(flat, one)
	}
	for some := range slices.Chunk(columns, 3) {
		t.Table(flat, append([]string{rows[0][0].Key}, some...)...)
	}
}
