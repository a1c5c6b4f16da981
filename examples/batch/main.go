// Command batch asks how a site with a few equal machines should run batch jobs of unknown
// durations: at which time limits to kill a job and start it again on the next machine, and how
// much that gains over one queue for all. The durations are those of a year of jobs on the Paragon
// of the San Diego Supercomputer Center.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"text/tabwriter"

	"productform/sizes"
	"productform/tags"
	"productform/traces"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// durations returns the distribution of the run times in the log, in seconds.
func durations() (sizes.Distribution, error) {
	const name = "SDSC-Par-1996"
	f, err := traces.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := sizes.ReadRunTimes(f, name)
	if err != nil {
		return nil, err
	}
	return sizes.NewEmpirical(list.Sizes)
}

func run(w io.Writer) error {
	jobSizes, err := durations()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "machines\tload\tone queue: wait, slowdown\tTAGS: wait, slowdown\ttime limits")
	for _, hosts := range []int{2, 3, 4} {
		for _, load := range []float64{0.2, 0.3, 0.4, 0.5} {
			m := tags.Model{Sizes: jobSizes, Hosts: hosts, Load: load}
			queue, err := tags.Evaluate(context.Background(), m, tags.PolicyCentral, nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(t, "%d\t%.1f\t%.0f s, %.1f\t", hosts, load, queue.MeanWaiting.Float, queue.MeanSlowdown.Float)
			best, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, tags.Objective{Slowdown: 1})
			var infeasible *tags.InfeasibleError
			switch {
			case errors.As(err, &infeasible):
				fmt.Fprintf(t, "overloaded\tnone above load %.3f\n", infeasible.MaxLoad)
			case err != nil:
				return err
			default:
				fmt.Fprintf(t, "%.0f s, %.1f\t%s\n",
					best.MeanWaiting.Float, best.MeanSlowdown.Float, limits(best.Cutoffs))
			}
		}
	}
	return t.Flush()
}

// limits formats time limits in whole seconds, the unit of the log.
func limits(seconds []float64) string {
	var text []string
	for _, s := range seconds {
		text = append(text, fmt.Sprintf("%.0f s", s))
	}
	return strings.Join(text, ", ")
}
