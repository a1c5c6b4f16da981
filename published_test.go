package productform_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"productform/bf"
	"productform/cluster"
	"productform/network/loss"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// A published row is a number that others have published.
type published struct {
	source, model, load, measure string
	value, interval              float64 // interval is the 95 % half-width of a simulation, 0 for an exact number
	digits                       int     // significant digits of value
	above                        float64 // how much value is above the exact one, in percent, if it is simulated
}

// readPublished reads testdata/published.csv. Its numbers come from the files that Céline Comte
// published with her thesis "Resource Management in Computer Clusters: Algorithm Design and
// Performance Analysis" (2019; github.com/ccomte/phd-thesis, folders 6 and 7) and with "Dynamic
// Load Balancing with Tokens" (2018; github.com/ccomte/SLACC, folder data). The last column is our
// own: how much simulated numbers are above the exact ones.
func readPublished(t *testing.T) []published {
	f, err := os.Open("testdata/published.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		if text == "" {
			return 0
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var list []published
	for _, row := range rows[1:] {
		mantissa, _, _ := strings.Cut(row[4], "e")
		list = append(list, published{
			source: row[0], model: row[1], load: row[2], measure: row[3],
			value: number(row[4]), interval: number(row[5]), above: number(row[6]),
			digits: len(strings.Trim(strings.ReplaceAll(mantissa, ".", ""), "0")),
		})
	}
	return list
}

// TestPublished compares answers with published numbers. Exact ones agree in all digits given, up to
// the rounding of programs that printed all digits of float64. Simulated ones differ from the exact
// answer for many interruptions by what the table says.
func TestPublished(t *testing.T) {
	t.Parallel()
	answers := map[string]map[string]float64{}
	count := 0
	for _, p := range readPublished(t) {
		key := p.model + " at load " + p.load
		if answers[key] == nil {
			answers[key] = solvePublished(t, p)
		}
		got, ok := answers[key][p.measure]
		if !ok {
			t.Fatalf("%s: no %s", key, p.measure)
		}
		got *= unit(p)
		count++
		if p.interval > 0 {
			if above := 100 * (p.value/got - 1); !(math.Abs(above-p.above) <= 0.0051) {
				t.Errorf("%s: %s: %g is %.2f %% above %g, want %.2f %%", key, p.measure, p.value, above, got, p.above)
			}
			continue
		}
		// Half a unit of the last digit, but no less than sums of 10^4 terms in float64.
		tol := math.Max(0.51*math.Pow(10, float64(1-min(p.digits, 15))), 1e-11)
		if strings.HasPrefix(p.measure, "jobs") || strings.HasPrefix(p.measure, "mean jobs") {
			tol = math.Max(tol, 1e-6*6/got) // printed as the difference of 6 tokens and the mean number free
		}
		if !(math.Abs(got/p.value-1) <= tol) {
			t.Errorf("%s: %s = %.16g, published %.16g", key, p.measure, got, p.value)
		}
	}
	if count < 200 {
		t.Errorf("%d numbers", count)
	}
}

// unit returns the published value of the unit of time: simulated sizes are numbers of phases of
// mean 1, of which a job has 5, or H(200)/H₂(200) with a Zipf distribution.
func unit(p published) float64 {
	switch {
	case !strings.HasPrefix(p.source, "thesis 7") || strings.HasPrefix(p.measure, "service rate"):
		return 1
	case !strings.Contains(p.source, "Zipf"):
		return 5
	}
	first, second := 0., 0.
	for n := 200.; n > 0; n-- {
		first += 1 / n
		second += 1 / (n * n)
	}
	return first / second
}

// solvePublished returns the measures of a published model.
func solvePublished(t *testing.T, p published) map[string]float64 {
	load, ok := new(big.Rat).SetString(p.load)
	if !ok {
		t.Fatal(p.load)
	}
	if strings.Contains(p.model, "token") {
		return solveTokens(t, p.model, load)
	}
	r, err := bf.Solve(t.Context(), publishedCluster(t, p.model, load), bf.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	answer := map[string]float64{"mean delay": r.MeanDelay.Float}
	for i, c := range r.Classes {
		answer["mean delay "+strconv.Itoa(i+1)] = c.MeanDelay.Float
		answer["mean delay of those on "+c.Name] = c.MeanDelay.Float
		answer["service rate "+strconv.Itoa(i+1)] = c.ServiceRate.Float
	}
	return answer
}

// publishedCluster returns a cluster of equal servers.
func publishedCluster(t *testing.T, name string, load *big.Rat) *cluster.Model {
	var text strings.Builder
	rate := func(share int64, of int64) string {
		return new(big.Rat).Mul(load, big.NewRat(share, of)).RatString()
	}
	toy := func(servers int64, first, second string) {
		fmt.Fprintf(&text, "servers: [{name: s, capacity: 1}, {name: t, capacity: 1}")
		if servers == 3 {
			fmt.Fprintf(&text, ", {name: u, capacity: 1}")
		}
		fmt.Fprintf(&text, "]\nclasses:\n- {name: a, arrival_rate: %[1]s, servers: %[2]s}\n"+
			"- {name: b, arrival_rate: %[1]s, servers: %[3]s}\n", rate(servers, 2), first, second)
	}
	var degree int
	var kind string
	switch {
	case name == "N: 2 servers":
		toy(2, "[s, t]", "[t]")
	case name == "M: 3 servers":
		toy(3, "[s, t]", "[t, u]")
	case name == "100 servers, any 4 or 14 for a job":
		fmt.Fprintf(&text, "servers: [{name: s, count: 100, capacity: 1}]\nclasses:\n")
		for _, d := range []int{4, 14} {
			fmt.Fprintf(&text, "- {name: '%[1]d', arrival_rate: %[2]s, servers: [{group: s, choose: %[1]d}]}\n", d,
				rate(50, 1))
		}
	default:
		if _, err := fmt.Sscanf(name, "100 servers, %d for a job, %s", &degree, &kind); err != nil {
			t.Fatal(name)
		}
	}
	if kind == "any" {
		fmt.Fprintf(&text, "servers: [{name: s, count: 100, capacity: 1}]\n"+
			"classes: [{name: a, arrival_rate: %s, servers: [{group: s, choose: %d}]}]\n", rate(100, 1), degree)
	} else if kind != "" {
		classes := 100
		if kind == "line" {
			classes = 101 - degree
		}
		fmt.Fprintln(&text, "servers:")
		for s := range 100 {
			fmt.Fprintf(&text, "- {name: s%d, capacity: 1}\n", s)
		}
		fmt.Fprintln(&text, "classes:")
		for i := range classes {
			var of []string
			for s := i; s < i+degree; s++ {
				of = append(of, "s"+strconv.Itoa(s%100))
			}
			fmt.Fprintf(&text, "- {name: c%d, arrival_rate: %s, servers: [%s]}\n", i, rate(100, int64(classes)),
				strings.Join(of, ", "))
		}
	}
	m, err := cluster.Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// solveTokens returns the measures of ten servers with tokens.
func solveTokens(t *testing.T, name string, load *big.Rat) map[string]float64 {
	var tokens int
	if _, err := fmt.Sscanf(name, "10 servers, %d", &tokens); err != nil {
		t.Fatal(err)
	}
	m := &loss.Model{}
	speeds := [10]int64{1, 1, 1, 1, 1, 4, 4, 4, 4, 4}
	if strings.HasSuffix(name, "two types") {
		speeds = [10]int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	}
	class := func(share int64, servers ...int) {
		m.Classes = append(m.Classes, loss.Class{Name: strconv.Itoa(len(m.Classes)), Servers: servers,
			ArrivalRate: new(big.Rat).Mul(load, big.NewRat(share, 1))})
	}
	for s, speed := range speeds {
		m.Servers = append(m.Servers, loss.Server{Name: strconv.Itoa(s), Capacity: big.NewRat(speed, 1),
			Tokens: tokens})
	}
	switch {
	case strings.HasSuffix(name, "chosen by speed"): // servers are independent, and all have the same load
		m.Servers = m.Servers[9:]
		class(4, 0)
	case strings.HasSuffix(name, "one type"):
		class(25, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	case strings.HasSuffix(name, "two types"):
		class(2, 0, 1, 2, 3, 4, 5, 6)
		class(8, 3, 4, 5, 6, 7, 8, 9)
	}
	r, err := loss.Solve(t.Context(), m, loss.Settings{Engine: num.Float})
	if err != nil {
		t.Fatal(err)
	}
	answer := map[string]float64{"blocking": r.Blocking.Float, "mean jobs": r.MeanJobs.Float}
	for k, c := range r.Classes {
		answer["blocking "+strconv.Itoa(k+1)] = c.Blocking.Float
	}
	for s, x := range r.Servers {
		names := []string{strconv.Itoa(s + 1), "slow"}
		if m.Servers[s].Capacity.Cmp(big.NewRat(4, 1)) == 0 {
			names[1] = "fast"
		}
		for _, n := range names {
			answer["idle "+n] = 1 - x.Utilization.Float
			answer["jobs "+n] = x.MeanJobs.Float
			answer["service rate "+n] = x.Throughput.Float / x.MeanJobs.Float
		}
	}
	return answer
}

// TestPublishedSimulations compares published simulations with interruptions with our own, of the
// same policy and sizes.
func TestPublishedSimulations(t *testing.T) {
	t.Parallel()
	runs := make(map[[3]string]*sim.Result) // by source, model and load: rows of two classes share a run
	for _, p := range readPublished(t) {
		if !strings.HasPrefix(p.source, "thesis 7") {
			continue
		}
		load, _ := new(big.Rat).SetString(p.load)
		words := strings.Fields(strings.ReplaceAll(p.source, ",", ""))
		d, err := sizes.Parse(strings.ToLower(words[3]), 1)
		if err != nil {
			t.Fatal(err)
		}
		m, err := strconv.ParseFloat(words[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		system := simcluster.Cluster{
			Model: publishedCluster(t, p.model, load), Sizes: d, Policy: simcluster.Interrupt, Interruptions: m,
		}
		key := [3]string{p.source, p.model, p.load}
		r := runs[key]
		if r == nil {
			r, err = sim.Run(t.Context(), system, sim.Settings{Runs: 10, Jumps: 5e4, WarmUp: 5e4, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			runs[key] = r
		}
		e := r.All(sim.MeanDelay)
		if class := slices.Index([]string{"1", "2"}, p.measure[len(p.measure)-1:]); class >= 0 {
			e = r.Class(class, sim.MeanDelay)
		}
		mean, width := unit(p)*e.Mean, unit(p)*e.HalfWidth
		if strings.HasPrefix(p.measure, "service rate") {
			mean, width = 1/e.Mean, e.HalfWidth/(e.Mean*e.Mean)
		}
		if z := (mean - p.value) / math.Hypot(width, p.interval); !(math.Abs(z) <= 2.5) {
			t.Errorf("%v: simulated %g ± %g, z = %.1f", p, mean, width, z)
		}
	}
}
