package plot

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/plots"
)

// pfq runs one command line in this process.
var pfq = commandtest.Program(func() *cobra.Command { return command.Root(New(nil, nil)) }).Run

const shop = `{"servers": [{"name": "big", "capacity": 2}, {"name": "small", "capacity": 1}], "classes": [
	{"name": "web", "arrival_rate": 1, "servers": ["big", "small"]},
	{"name": "reports", "arrival_rate": 0.4, "servers": ["small"]}]}`

// unit is the part of a header after the name of the quantity.
var unit = regexp.MustCompile(`: [^,(]*| \([^)]*\)`)

// table draws the model as CSV and returns the columns by their header, without the unit.
func table(t *testing.T, model string, args ...string) map[string][]float64 {
	t.Helper()
	stdout, stderr, status := pfq(model, append([]string{"plot", "-", "--format", "csv"}, args...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	records, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := make(map[string][]float64)
	for k, name := range records[0] {
		name = unit.ReplaceAllString(name, "")
		for _, record := range records[1:] {
			if record[k] == "" {
				continue
			}
			v, err := strconv.ParseFloat(record[k], 64)
			if err != nil {
				t.Fatal(err)
			}
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}

// Curves show the numbers of the solvers, at each load.
func TestNumbers(t *testing.T) {
	got := table(
		t, shop, "--show", "delay,jobs,rate,utilization", "--percentiles", "50,99.9", "--scale", "0.5,1,2",
		"--distribution", "3",
	)
	m, err := cluster.ReadJSON(strings.NewReader(shop))
	if err != nil {
		t.Fatal(err)
	}
	check := func(k int, name string, want float64) {
		t.Helper()
		if len(got[name]) <= k || got[name][k] != want {
			t.Errorf("%s: %v at %d, want %v", name, got[name], k, want)
		}
	}
	for k, factor := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(2, 1)} {
		r, err := bf.Answer(t.Context(), m.Scale(factor), bf.Question{MaxJobs: 3}, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := bf.Answer(
			t.Context(), m.Scale(factor), bf.Question{Levels: []*big.Rat{big.NewRat(1, 2), big.NewRat(999, 1000)}},
			bf.Settings{},
		)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range m.Classes {
			check(k, "mean delay, "+c.Name, r.Classes[i].MeanDelay.Float)
			check(k, "mean jobs, "+c.Name, r.Classes[i].MeanJobs.Float)
			check(k, "service rate, "+c.Name, r.Classes[i].ServiceRate.Float)
			check(k, "p50 of the delay, "+c.Name, d.Classes[i].Quantiles[0].Float)
			check(k, "p99.9 of the delay, "+c.Name, d.Classes[i].Quantiles[1].Float)
		}
		for s, server := range m.Servers {
			check(k, "utilization, "+server.Name, r.Servers[s].Utilization.Float)
		}
		if k == 1 {
			for n, p := range r.JobsDistribution {
				check(n, "number of jobs at load 1, all jobs", p.Float)
			}
		}
	}
}

// Simulated points lie near their curves, at loads that are drawn.
func TestSimulated(t *testing.T) {
	for _, c := range []struct{ name, model string }{
		{"first come, first served", shop},
		{"balanced fairness", strings.Replace(shop, `"arrival_rate": 1,`, `"arrival_rate": 0.5, "mean_size": 2,`, 1)},
	} {
		args := []string{"--runs", "20", "--jumps", "4000", "--scale", "0.5,1,1.5", "--confidence", "0.9999"}
		args = append(args, "--percentiles", "50") // balanced fairness has no curves of percentiles
		got := table(t, c.model, args...)
		if uneven := c.model != shop; uneven != (got["p50 of the delay, web"] == nil) ||
			got["p50 of the delay, simulated, web"] == nil {
			t.Errorf("%s: %v", c.name, slices.Sorted(maps.Keys(got)))
		}
		points := 0
		for name, exact := range got {
			measure, row, _ := strings.Cut(name, ", ")
			simulated := measure + ", simulated, " + row
			low, high := got[simulated+", low end of 99.99 % interval"], got[simulated+", high end of 99.99 % interval"]
			for k := range low {
				points++
				if !(low[k] <= exact[k] && exact[k] <= high[k]) {
					t.Errorf("%s: %s at %d: %v is not in [%v, %v]", c.name, name, k, exact[k], low[k], high[k])
				}
			}
		}
		if want := map[bool]int{true: 18, false: 12}[c.model == shop]; points != want {
			t.Errorf("%s: %d points, want %d", c.name, points, want)
		}
	}
}

// The file name determines the format, which the first bytes of the file show. The same picture has
// the same bytes, as in the test of package draw for all formats.
func TestFormats(t *testing.T) {
	for begin, endings := range map[string][]string{
		"\x89PNG": {"png"},
		"<?xml":   {"svg", "SVG"},
		"%PDF":    {"pdf"},
		"load":    {"csv"},
	} {
		var before []byte
		for _, ending := range endings {
			name := filepath.Join(t.TempDir(), "p."+ending)
			if stdout, stderr, status := pfq(shop, "plot", "-", "-o", name, "--scale", "0.5,1"); stdout+stderr != "" ||
				status != 0 {
				t.Fatalf("%s: status %d %q %q", ending, status, stdout, stderr)
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(got), begin) {
				t.Errorf("%s begins with %q", ending, got[:8])
			}
			if before != nil && !slices.Equal(got, before) {
				t.Errorf("%s: bytes differ", ending)
			}
			before = got
		}
	}
	if stdout, _, status := pfq(shop, "plot", "-"); status != 0 || !strings.HasPrefix(stdout, "<?xml") {
		t.Errorf("status %d, standard output %.20q", status, stdout)
	}
}

// No panel has two curves with the same look or the same name, for any number of classes, and
// the panels have the same axes.
func TestManyClasses(t *testing.T) {
	for _, n := range []int{7, 8, 20, 91} {
		var classes []string
		for i := range n {
			classes = append(classes, fmt.Sprintf(
				`{"name": "a class with a long name, number %d", "arrival_rate": 0.001, "servers": [{"group": "s", `+
					`"choose": %d}]}`, i, i+1,
			))
		}
		m, err := cluster.ReadJSON(strings.NewReader(
			`{"servers": [{"name": "s", "count": 100, "capacity": 1}], "classes": [` +
				strings.Join(classes, ",") + `]}`,
		))
		if err != nil {
			t.Fatal(err)
		}
		factors := []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1)}
		flags := &question{show: []string{delay}, scaling: command.Scaling{Factors: factors}}
		rows, err := flags.classes.rows(m)
		if err != nil {
			t.Fatal(err)
		}
		c := &curves{clusterChart: clusterChart{
			chart: flags.chart(big.NewRat(2, 1), fortieths), flags: flags, model: m, classes: rows,
		}}
		if err := c.solve(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := c.figure("many")
		if err := c.flags.checkPanels(m, rows); err != nil {
			t.Error(err)
		}
		f.ID = "many"
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
		seen := 0
		for _, p := range f.Panels {
			looks, names := make(map[int]bool), make(map[string]bool)
			for _, s := range p.Series {
				looks[s.Look], names[s.Label] = true, true
			}
			if len(looks) != len(p.Series) || len(names) != len(p.Series) || len(looks) > plots.MostCurves {
				t.Errorf("%d classes: a panel with %d curves has %d looks, %d names",
					n, len(p.Series), len(looks), len(names))
			}
			if p.Y.Min != f.Panels[0].Y.Min || p.Y.Max != f.Panels[0].Y.Max || !(p.Y.Max > p.Y.Min) ||
				math.IsInf(p.Y.Max, 0) {
				t.Errorf("%d classes: axes from %v to %v and from %v to %v",
					n, p.Y.Min, p.Y.Max, f.Panels[0].Y.Min, f.Panels[0].Y.Max)
			}
			seen += len(p.Series)
		}
		if seen != n || len(f.Panels) != (n+plots.MostCurves-1)/plots.MostCurves {
			t.Errorf("%d classes: %d curves in %d panels", n, seen, len(f.Panels))
		}
	}
}

// largeGroups is a cluster whose only lattice, of the numbers of servers of each group, is too large.
const largeGroups = `{"servers": [{"name": "a", "count": 3000, "capacity": 1},
	{"name": "b", "count": 3000, "capacity": 1}, {"name": "c", "count": 3000, "capacity": 1}], "classes": [
	{"name": "x", "arrival_rate": 1, "servers": [{"group": "a", "choose": 2}, {"group": "b", "choose": 1}]},
	{"name": "y", "arrival_rate": 1, "servers": [{"group": "b", "choose": 1}, {"group": "c", "choose": 2}]},
	{"name": "z", "arrival_rate": 1, "servers": [{"group": "c", "choose": 1}, {"group": "a", "choose": 1}]}]}`

// A picture has at most 26 panels, and larger requests are rejected before anything is computed.
func TestTooManyPanels(t *testing.T) {
	many := func(n int, more string) string {
		var classes []string
		for i := range n {
			classes = append(classes, fmt.Sprintf(`{"name": "c%d", "arrival_rate": 0.001, "servers": ["s"]}`, i))
		}
		return `{"servers": [{"name": "s", "capacity": 1}], "classes": [` + strings.Join(classes, ",") + more + `]}`
	}
	if _, stderr, status := pfq(many(25*7, ""), "plot", "-", "--scale", "1", "--format", "csv"); status != 0 {
		t.Errorf("26 panels: status %d, %s", status, stderr)
	}
	if _, stderr, status := pfq(
		many(25*7, `, {"name": "never", "arrival_rate": 0, "servers": ["s"]}`), "plot", "-",
		"--scale", "1", "--format", "csv",
	); status != 0 {
		t.Errorf("a class without arrivals: status %d, %s", status, stderr)
	}
	const want = "pfq: standard input: classes = 176, and 1 rows of servers: want less to draw: at most 26 panels of " +
		"7 curves, not 27; with --classes NAMES or worst:10 and --show delay there is less\n"
	if stdout, stderr, status := pfq(many(25*7+1, ""), "plot", "-"); status != 2 || stdout != "" || stderr != want {
		t.Errorf("27 panels: status %d, %q", status, stderr)
	}
}

// --classes draws the curves of some classes and the servers that they can use, unchanged by the
// selection; worst:N selects the classes with the longest delays at the last load.
func TestClasses(t *testing.T) {
	all := table(t, shop, "--scale", "0.5,2", "--show", "delay,jobs,utilization")
	for classes, want := range map[string][]string{
		"web":         {"mean delay, web", "mean jobs, web", "utilization, big", "utilization, small"},
		"reports":     {"mean delay, reports", "mean jobs, reports", "utilization, small"},
		"reports,web": slices.Sorted(maps.Keys(all))[1:],
		"worst:1":     {"mean delay, reports", "mean jobs, reports", "utilization, small"},
		"worst:5":     slices.Sorted(maps.Keys(all))[1:],
	} {
		some := table(t, shop, "--scale", "0.5,2", "--show", "delay,jobs,utilization", "--classes", classes)
		delete(some, "load")
		if got := slices.Sorted(maps.Keys(some)); !slices.Equal(got, want) {
			t.Errorf("%s: columns %q, want %q", classes, got, want)
		}
		for name, column := range some {
			if !slices.Equal(column, all[name]) {
				t.Errorf("%s: %s is %v, want %v", classes, name, column, all[name])
			}
		}
	}
	if d := all["mean delay, reports"]; !(d[1] > all["mean delay, web"][1]) {
		t.Errorf("reports do not wait longer: %v", d)
	}
	for flag, want := range map[string]string{
		"web":     "The picture shows 1 of 2 classes, ",
		"worst:1": "The picture shows the 1 of 2 classes that have the longest mean delays at load 2, ",
		"worst:2": "under first come, first served with exponential sizes.",
	} {
		f := &question{
			show:    []string{delay},
			given:   func(flag string) bool { return flag == "show" },
			scaling: command.Scaling{Factors: []*big.Rat{big.NewRat(2, 1)}},
		}
		f.classes, _ = parseChosen(flag)
		figure, err := f.draw(
			command.Query{Ctx: t.Context(), File: "-", Stdin: strings.NewReader(shop), Stderr: io.Discard}, false,
		)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(figure.Caption, want) ||
			strings.Contains(figure.Caption, "The picture shows") != strings.HasPrefix(want, "The picture shows") {
			t.Errorf("%s: no %q in %s", flag, want, figure.Caption)
		}
	}
}

// Input that cannot be drawn is rejected, and nothing is written.
func TestRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.png")
	for _, c := range []struct {
		model, args, want string
		status            int
	}{
		{shop, "--format svg -o shop.png", `--output = shop.png: want a name that ends in .svg, for --format svg`, 2},
		{shop, "--show none", `--show = none: want something to draw`, 2},
		{shop, "--show none,delay", `--show = none,delay: want none alone`, 2},
		{shop, "--show speed", `--show = speed: want delay, jobs, rate, utilization, tasks, waiting, waits`, 2},
		{shop, "--scale 1,0.5", `--scale = 1/2: want factors that increase, more than 1`, 2},
		{shop, "--scale 0,1", `--scale[0] = 0: want factors > 0`, 2},
		{shop, "--scale 3,4", `unstable with its arrival rates multiplied by 15/7 or more`, 1},
		{
			strings.Replace(shop, `"arrival_rate": 1`, `"arrival_rate": 5`, 1),
			"--distribution 5", `unstable with its arrival rates multiplied by 5/9 or more`, 1,
		},
		{shop, "--percentiles 100", `--percentiles[0] = 100: want a number > 0 and < 100`, 2},
		{shop, "--classes wep", `--classes[0] = wep: want worst:N, or the name of a class; did you mean "web"?`, 2},
		{shop, "--classes worst:0",
			`--classes = worst:0: want names of classes, such as web,mail, or worst:N with N >= 1`,
			2},
		{`{"stations": [], "classes": []}`, "--classes a",
			`--classes needs a cluster, and standard input holds a network`, 2},
		{`{"room": 3, "classes": []}`, "--count a=1:2", `--count needs a cluster with service: one`, 2},
		{shop, "--population 1:5", `--population needs a network, and standard input holds a cluster`, 2},
		{`{"stations": []}`, "--population 0:5", `--population = 0:5: want integers from 1 to 1000000`, 2},
		{largeGroups, "", `standard input: model = 3 classes on 3 rows of servers: ... ` +
			`; or pfq estimate --scale 0.1:0.9:0.1 --format csv, whose numbers are curves with intervals`, 2},
		{shop, "--jumps 2000", `--jumps needs --runs`, 2},
		{
			strings.ReplaceAll(strings.Replace(shop, "0.4", "0", 1), `"arrival_rate": 1`, `"arrival_rate": 0`),
			"", `want a class with an arrival_rate > 0`, 2,
		},
		{
			strings.Replace(shop, `"arrival_rate": 1,`, `"arrival_rate": 1, "mean_size": 2,`, 1),
			"--percentiles 50", `with --runs percentiles are simulated`, 2,
		},
		{
			commandtest.Example(t, "networks/ten-servers.yaml"), "--show rate",
			`--show = rate: want throughput, response, delay, blocking, waiting, utilization or jobs, of a network`, 2,
		},
	} {
		stdout, stderr, status := pfq(c.model, append([]string{"plot", "-", "-o", file}, strings.Fields(c.args)...)...)
		start, end, _ := strings.Cut(c.want, " ... ")
		if _, after, ok := strings.Cut(stderr, start); status != c.status || stdout != "" || !ok ||
			!strings.Contains(after, end) {
			t.Errorf("%s: status %d, %q %q, want %d, %q", c.args, status, stdout, stderr, c.status, c.want)
		}
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%s: a picture was written", c.args)
		}
	}
	if _, stderr, status := pfq(shop, "plot", "-", "-o", "p.gif"); status != 2 ||
		!strings.Contains(stderr, "--output = p.gif: want a name that ends in .png") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
