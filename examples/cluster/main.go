// Command cluster simulates twenty servers twice: in one process, and in eight parts on machines
// that share only a folder. One machine is switched off early, and another one runs its part twice.
// The program prints what each machine did, and checks that both results have the same digits.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"

	"productform/cluster"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
	"productform/sweep"
)

//go:embed model.yaml
var model []byte

const parts = 8

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// newPlan returns the simulation of the scripts in this folder.
func newPlan(ctx context.Context) (*sim.Plan, error) {
	m, err := cluster.ReadYAML(bytes.NewReader(model))
	if err != nil {
		return nil, err
	}
	d, err := sizes.Parse("lognormal:4", 1)
	if err != nil {
		return nil, err
	}
	return sim.NewPlan(ctx, simcluster.Cluster{Model: m, Sizes: d, Policy: simcluster.FCFS}, sim.Settings{
		Runs:  64,
		Jumps: 5000,
		Seed:  1,
	})
}

func run(w io.Writer) error {
	ctx := context.Background()
	plan, err := newPlan(ctx)
	if err != nil {
		return err
	}
	alone, err := plan.Run(ctx, sweep.Settings{})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "one process: 64 runs, mean delay %v\n", delay(alone))

	folder, err := os.MkdirTemp("", "runs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, k := range []int{4, 1, 0, 7, 2, 6, 1, 3} { // 5 is off
		if err := machine(ctx, w, plan, k, folder); err != nil {
			return err
		}
	}
	var last sweep.Progress
	results, err := sim.RunAll(ctx, []*sim.Plan{plan}, sweep.Settings{
		Folder:   folder,
		Progress: func(now sweep.Progress) { last = now },
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the answer: %d of %d runs found, mean delay %v, equal in all digits: %v\n",
		last.Reused, last.Total, delay(results[0]),
		reflect.DeepEqual(alone, results[0]))
	return nil
}

// machine performs its share of the runs and writes the results to the folder.
func machine(ctx context.Context, w io.Writer, plan *sim.Plan, k int, folder string) error {
	tasks, err := sim.Tasks(ctx, []*sim.Plan{plan})
	if err != nil {
		return err
	}
	part, err := sweep.Part(tasks, k, parts)
	if err != nil {
		return err
	}
	var last sweep.Progress
	_, err = sweep.Run(ctx, part, sweep.Settings{Folder: folder, Progress: func(now sweep.Progress) { last = now }})
	fmt.Fprintf(w, "part %d/%d: %d runs, %d of them found\n", k, parts, last.Total, last.Reused)
	return err
}

// delay returns the mean delay with the half-width of its confidence interval.
func delay(r *sim.Result) string {
	d := r.All(sim.MeanDelay)
	return fmt.Sprintf("%.4f ± %.4f", d.Mean, d.HalfWidth)
}
