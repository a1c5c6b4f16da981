package plots

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"path"
	"slices"
	"strings"
	"text/template"
)

// Texts holds the texts of figures, in files embedded next to the code that computes their numbers.
// The file fig.txt of the figure with that ID is a template (text/template) of its caption, then of
// its setting, its parameters and its claims:
//
//	The mean delay is half as long.
//
//	# Setting
//	Mean delay against the load, at {{len .Loads}} loads.
//
//	# Parameters
//	loads | {{list .Loads}}
//
//	# Claim shorter a
//	The mean delay is shorter.
//	Asked: It is shorter at every load.
//	Numbers: At most {{short .Largest}} times as long.
//
// An indented line continues the previous one. A claim has a name, used in the code, and optionally
// the letter of its panel; under "# Finding" it only concerns the paper, see [Claim]. Text shared
// by several figures is in a file that defines templates.
type Texts struct{ files *template.Template }

// NewTexts reads the files *.txt of a folder. They are embedded, so it panics if one is not a valid
// template.
func NewTexts(folder fs.FS, name string) Texts {
	t := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"short": Short, "power": Power, "significant": Significant, "shortlist": ShortList, "list": List,
		"spans":   Spans,
		"decimal": Decimal, "decimals": Decimals, "join": strings.Join,
		"first": func(v []*big.Rat) string { return Decimal(v[0]) },
		"last":  func(v []*big.Rat) string { return Decimal(v[len(v)-1]) },
		"ratio": func(a, b float64) float64 { return a / b },
		"panel": func(k int) string { return Letter(k) },
	})
	return Texts{template.Must(template.Must(t.ParseFS(ownTexts, "texts/*.txt")).ParseFS(folder,
		path.Join(name, "*.txt")))}
}

// ownTexts are the texts shared by all figures.
//
//go:embed texts
var ownTexts embed.FS

// RunWords describes the simulations of a figure, for the templates "runs", "runs parameters" and
// "warnings".
type RunWords struct {
	// simulations, replications of each, and replications of each simulation that only checks need
	Simulations, Runs, CheckRuns int
	Jumps, WarmUp                float64  // jumps of a run
	Kinds                        string   // kinds of jumps
	Seed                         uint64   // seed of all runs
	Observed                     float64  // total jumps
	Warned                       []string // simulations with a warning
	Reason                       string   // reason for possible warnings
}

// RunWords describes the simulations of a plan, with jumps of these kinds.
func (p *Plan) RunWords(e Effort, kinds string) RunWords {
	w := RunWords{Simulations: len(p.Simulations), Runs: e.Runs, CheckRuns: e.CheckRuns, Jumps: e.Jumps,
		WarmUp: e.WarmUp,
		Kinds:  kinds, Seed: e.Seed, Reason: "whose warm-up looks short"}
	for _, one := range p.Simulations {
		w.Observed += one.Result.Jumps
		if len(one.Result.Warnings) > 0 {
			w.Warned = append(w.Warned, one.Name)
		}
	}
	slices.Sort(w.Warned)
	w.Warned = slices.Compact(w.Warned)
	return w
}

// Verdicts holds the verdicts on the claims of a figure, by name.
type Verdicts map[string]Verdict

// Decide sets the verdict on a claim that exact numbers decide.
func (v Verdicts) Decide(name string, holds bool) {
	v[name] = Refuted
	if holds {
		v[name] = Holds
	}
}

// Describe fills in the caption, the setting, the parameters and the claims of a figure with the
// numbers in data. The error names a claim without a verdict, a verdict without a claim, or a
// missing value of the template.
func (t Texts) Describe(f *Figure, data any, verdicts Verdicts) error {
	var text strings.Builder
	if err := t.files.ExecuteTemplate(&text, f.ID+".txt", data); err != nil {
		return err
	}
	open := maps.Clone(verdicts)
	sections := strings.Split("\n"+text.String(), "\n# ")
	f.Caption = strings.Join(strings.Fields(sections[0]), " ")
	for _, section := range sections[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		words := strings.Fields(heading)
		switch {
		case len(words) == 1 && words[0] == "Setting":
			f.Setting = strings.Join(strings.Fields(body), " ")
		case len(words) == 1 && words[0] == "Parameters":
			for _, row := range paragraphs(body) {
				name, value, _ := strings.Cut(row, " | ")
				f.Parameters = append(f.Parameters, Parameter{name, value})
			}
		case len(words) >= 2 && (words[0] == "Claim" || words[0] == "Finding"):
			verdict, ok := verdicts[words[1]]
			if !ok {
				return fmt.Errorf("%s: the claim %q has no verdict", f.ID, words[1])
			}
			delete(open, words[1])
			c := Claim{Place: f.ID + strings.Join(words[2:], ""), Verdict: verdict, Finding: words[0] == "Finding"}
			c.Sentence, c.Criterion, c.Numbers = claimTexts(body)
			if cmp.Or(c.Sentence, c.Criterion, c.Numbers) == "" {
				return fmt.Errorf("%s: the claim %q is empty", f.ID, words[1])
			}
			f.Claims = append(f.Claims, c)
		default:
			return fmt.Errorf("%s: the heading %q is not Setting, Parameters, Claim or Finding", f.ID, heading)
		}
	}
	for name := range open {
		return fmt.Errorf("%s: there is no claim %q", f.ID, name)
	}
	return nil
}

// paragraphs returns the lines of a text, each joined with the indented lines after it.
func paragraphs(text string) (rows []string) {
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(line), " ")
		switch {
		case words == "":
		case strings.TrimLeft(line, " \t") != line && rows != nil:
			rows[len(rows)-1] += " " + words
		default:
			rows = append(rows, words)
		}
	}
	return rows
}

// claimTexts splits the text of a claim.
func claimTexts(text string) (sentence, criterion, numbers string) {
	text, numbers, _ = strings.Cut(text, "\nNumbers: ")
	text, criterion, _ = strings.Cut(text, "\nAsked: ")
	clean := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return clean(text), clean(criterion), clean(numbers)
}
