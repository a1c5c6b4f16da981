// Command randomassignment shows what a second and a third replica do to the mean delay of jobs
// whose replicas are placed at random on one hundred servers, the large system of Bonald and Comte,
// "Balanced fair resource sharing in computer clusters", Performance Evaluation 116, 2017,
// section 5.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"math"
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

var (
	replicas = []int{1, 2, 3}
	loads    = []string{"0.1", "0.3", "0.5", "0.7", "0.8", "0.9", "0.95", "0.99"}
)

func run(w io.Writer) error {
	m, err := cluster.ReadYAML(bytes.NewReader(model))
	if err != nil {
		return err
	}
	servers := m.Servers[0].Count
	m.Classes[0].ArrivalRate = big.NewRat(int64(servers), 1) // load 1
	var factors []*big.Rat
	for _, load := range loads {
		factors = append(factors, num.Rat(load))
	}
	delays := map[int][]float64{}
	// relative difference between the recursion and the closed form, and the difference that their
	// error bounds allow
	farthest, allowed := 0.0, 0.0
	for _, d := range replicas {
		m.Classes[0].Servers[0].Choose = d
		ctx := context.Background()
		p, err := bf.Prepare(ctx, m)
		if err != nil {
			return err
		}
		results, err := p.Sweep(ctx, factors, bf.Question{}, bf.Settings{})
		if err != nil {
			return err
		}
		for i, r := range results {
			rho, _ := factors[i].Float64()
			jobs, bound, err := bf.RandomAssignmentFloat(servers, d, rho)
			if err != nil {
				return err
			}
			delays[d] = append(delays[d], r.MeanDelay.Float)
			farthest = max(farthest, math.Abs(r.MeanJobs.Float-jobs)/jobs)
			allowed = max(allowed, r.RelativeErrorBound+bound)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "load\tdelay, 1 replica\t2 replicas\t3 replicas\t1 : 2\t2 : 3")
	for i, load := range loads {
		one, two, three := delays[1][i], delays[2][i], delays[3][i]
		fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t%.2f\t%.2f\n", load, one, two, three, one/two, two/three)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verdict := "within"
	if farthest > allowed {
		verdict = "NOT within"
	}
	_, err = fmt.Fprintf(w, "\nRecursion and closed form agree %s their proved bounds.\n", verdict)
	return err
}
