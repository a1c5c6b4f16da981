// Command threeservers compares the recursion of balanced fairness with its closed form on the
// three servers of Bonald and Comte, "Balanced fair resource sharing in computer clusters",
// Performance Evaluation 116, 2017, equations (10) and (11).
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"text/tabwriter"

	"productform/bf"
	"productform/cluster"
	"productform/num"
)

//go:embed model.yaml
var model []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	m, err := cluster.ReadYAML(bytes.NewReader(model))
	if err != nil {
		return err
	}
	if err := table(w, "Equal servers (figure 1 of the paper).", m); err != nil {
		return err
	}
	m.Servers[1].Capacity = new(big.Rat) // class 2 keeps the shared server only
	return table(w, "\nServer own-2 out of order (figure 2 of the paper).", m)
}

// loadOf returns the arriving work divided by the total capacity.
func loadOf(m *cluster.Model) *big.Rat {
	work, capacity := new(big.Rat), new(big.Rat)
	for _, c := range m.Classes {
		work.Add(work, c.ArrivalRate)
	}
	for _, s := range m.Servers {
		capacity.Add(capacity, s.Capacity)
	}
	return work.Quo(work, capacity)
}

// table prints the service rates and delays of both classes at several loads.
func table(w io.Writer, title string, m *cluster.Model) error {
	var loads, factors []*big.Rat
	for _, load := range []string{"0.1", "0.3", "0.5", "0.7", "0.8", "0.9", "0.95", "0.99"} {
		loads = append(loads, num.Rat(load))
		factors = append(factors, new(big.Rat).Quo(num.Rat(load), loadOf(m)))
	}
	ctx := context.Background()
	p, err := bf.Prepare(ctx, m)
	if err != nil {
		return err
	}
	results, err := p.Sweep(ctx, factors, bf.Question{}, bf.Settings{Engine: num.Exact})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "load\trate 1\trate 2\tdelay 1\tdelay 2\tclosed form")
	for i, r := range results {
		c := r.Classes
		gamma1, gamma2, err := bf.ThreeServers(c[0].ArrivalRate, c[1].ArrivalRate,
			m.Servers[0].Capacity, m.Servers[1].Capacity, m.Servers[2].Capacity)
		if err != nil {
			return err
		}
		verdict := "the same fractions"
		if c[0].ServiceRate.Exact.Cmp(gamma1) != 0 || c[1].ServiceRate.Exact.Cmp(gamma2) != 0 {
			verdict = "DIFFERENT"
		}
		fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t%.4f\t%s\n", loads[i].FloatString(2),
			c[0].ServiceRate.Float, c[1].ServiceRate.Float, c[0].MeanDelay.Float, c[1].MeanDelay.Float, verdict)
	}
	return t.Flush()
}
