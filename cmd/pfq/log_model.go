package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/dispatch/logstats"
	"productform/gang"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
)

// addModel adds the flags of a model of the log.
func (f *logFlags) addModel(cmd *cobra.Command) {
	cli.AddText(cmd, &f.model, "model", "", "the name of a file", "write a model of the log to `FILE`, in YAML")
	words := []string{logstats.Size}
	for _, kind := range logstats.Kinds() {
		if kind != logstats.Size {
			words = append(words, kind)
		}
	}
	cli.AddChoice(cmd, &f.by, "by", words, "with --model, what the classes of the model are by")
	f.binding.Name("By", "by")
}

// checkModelFile rejects a file for the model that is also the log or the answer, or whose name does
// not end as that of a file in YAML: other commands recognize a model by it.
func (f *logFlags) checkModelFile(q command.Query) error {
	if f.model == "" {
		return nil
	}
	if q.To != "" && q.To != "-" && cli.IsSame(f.model, q.To) {
		return input.Errorf("--model", f.model, "a file other than that of --output")
	}
	if err := cli.Check("--model", f.model, q.File, q.Stdin); err != nil {
		return err
	}
	if end := strings.ToLower(filepath.Ext(f.model)); !slices.Contains([]string{"", ".yaml", ".yml"}, end) {
		return input.Errorf("--model", f.model, "a name with the end .yaml or .yml")
	}
	return nil
}

// fit writes a model of the log, and returns the answer about it.
func (f *logFlags) fit(q command.Query, log *logstats.Log) ([]byte, error) {
	fit, err := logstats.FitModel(q.Ctx, log, f.by, int64(f.workers))
	if err != nil {
		return nil, command.InFile(q.File, f.binding.Translate(err, ""))
	}
	name := cli.Source(q.File)
	comments := cluster.Comments{Head: []string{
		fmt.Sprintf("%s of %s in %s days, as classes by %s, written by pfq log.", render.Counted(fit.Jobs, "job"), name,
			render.Six(fit.Span/86400), f.by),
		fmt.Sprintf("The number of cpus is %s.", processorsFrom(fit.Source)),
		"Arrivals are per second, sizes are in seconds. The squared coefficients of variation (SCV) of sizes",
		"and of the times between arrivals (gaps) are 1 if the model is right.",
	}}
	for _, c := range fit.Classes {
		comments.Classes = append(comments.Classes, quality(c))
	}
	var text bytes.Buffer
	if err := fit.Model.WriteYAML(&text, comments); err != nil {
		return nil, command.InFile(q.File, err)
	}
	answer, err := answerFit(fit, name, f.model).Format(q.Format)
	if err != nil {
		return nil, err
	}
	if err := cli.Write(text.Bytes(), f.model, nil); err != nil {
		return nil, err
	}
	return answer, noteSize(q, f.model, fit.Model)
}

// noteSize writes a note if a model, in a file, is too large for pfq solve.
func noteSize(q command.Query, file string, m *cluster.Model) error {
	if m.Service != cluster.Gang {
		return nil
	}
	err := gang.CheckSize(q.Ctx, m)
	var large *num.TooLargeError
	if !errors.As(err, &large) {
		return err
	}
	fmt.Fprintf(q.Stderr, "pfq: note: pfq solve rejects %s: %s; fewer classes --by another field may do\n", file,
		cli.OneLine(large.Input))
	return nil
}

// quality describes the jobs of a class and how well a model describes them.
func quality(c logstats.ClassFit) string {
	parts := []string{fmt.Sprintf("%s of %s", render.Counted(c.Jobs, "job"), processorsText(c)),
		"SCV of sizes " + fourDigits(c.SizeSCV)}
	if c.GapSCV != nil {
		parts = append(parts, "of gaps "+fourDigits(*c.GapSCV))
	}
	distance := "distance from exponential " + fourDigits(c.Distance)
	if c.Chance != nil {
		distance += fmt.Sprintf(" (by chance up to %s)", fourDigits(*c.Chance))
	}
	if parts = append(parts, distance); c.MeanWait != nil {
		parts = append(parts, fmt.Sprintf("mean waiting %s s", fourDigits(*c.MeanWait)))
	}
	return strings.Join(parts, ", ")
}

// processorsText returns the processors of the jobs of a class.
func processorsText(c logstats.ClassFit) string {
	if c.Smallest == c.Largest {
		return render.Counted(int(c.Smallest), "processor")
	}
	return fmt.Sprintf("%d to %d processors", c.Smallest, c.Largest)
}

// answerFit returns the answer about a model of a log, which is in a file.
func answerFit(fit *logstats.Fit, log, file string) render.Answer {
	whole := render.Fields(fit)
	return render.Answer{
		JSON:  whole,
		Lines: []render.Lines{{Kind: "model", Of: whole}, {Kind: "class", Of: fit.Classes}},
		Text:  func(t *render.Text) { writeFit(t, fit, log, file) },
	}
}

// writeFit writes the answer about a model, at most 100 columns wide.
func writeFit(t *render.Text, fit *logstats.Fit, log, file string) {
	classes := "one class"
	if n := len(fit.Classes); n > 1 {
		classes = fmt.Sprintf("%d classes", n)
	}
	t.Line("%s of %s in %s; the model is in %s", render.Counted(fit.Jobs, "job"), log, classes, file)
	t.Line("%s (%s), load %s; service: %s", render.Counted(fit.Processors, "processor"), processorsFrom(fit.Source),
		render.Six(fit.Load), fit.Service)
	if fit.Empty > 0 {
		t.Line("%s of run time 0 left out", render.Counted(fit.Empty, "job"))
	}
	if fit.TooLarge > 0 {
		t.Line("%s of more processors left out", render.Counted(fit.TooLarge, "job"))
	}
	t.Blank()
	t.Line("%-24s %8s %6s %8s %6s  %6s %6s  %8s %9s %8s", "class", "jobs", "needs", "size, s", "load %", "SCV of",
		"gaps", "distance", "by chance", "waiting")
	for _, c := range fit.Classes {
		gaps, chance, wait := "-", "-", "-"
		if c.GapSCV != nil {
			gaps = fourDigits(*c.GapSCV)
		}
		if c.Chance != nil {
			chance = fourDigits(*c.Chance)
		}
		if c.MeanWait != nil {
			wait = fourDigits(*c.MeanWait)
		}
		t.Line("%-24s %8d %6d %8s %6.1f  %6s %6s  %8s %9s %8s", shortened(c.Name, 24), c.Jobs, c.Needs,
			fourDigits(c.MeanSize), 100*c.Load, fourDigits(c.SizeSCV), gaps, fourDigits(c.Distance), chance, wait)
	}
	t.Blank()
	t.Line("SCV of sizes and of gaps between arrivals: 1 if the model is right; waiting: mean in the log, s")
	t.Line("distance: of sizes from exponential; by chance it exceeds the next number in 5 %% of all cases")
}
