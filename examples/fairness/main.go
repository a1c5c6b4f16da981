// Command fairness compares fairness policies for a cluster that shares processors and memory. It
// computes what two kinds of jobs get at a given moment, how long they take when they arrive and
// depart, and whether it pays to request more than one needs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"text/tabwriter"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/num"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// policies lists the compared policies with their names.
var policies = []struct {
	name   string
	policy fluid.Policy
}{
	{"proportional fairness", fluid.PF},
	{"dominant resource fairness", fluid.DRF},
	{"max-min fairness", fluid.MaxMin},
	{"bottleneck max fairness", fluid.BMF},
	{"balanced fairness", fluid.BF},
}

// resources returns the resources of the cluster.
func resources() []fluid.Resource {
	return []fluid.Resource{
		{Name: "processors", Capacity: num.Rat("100")},
		{Name: "GB of memory", Capacity: num.Rat("400")},
	}
}

// demand returns the resources that one task needs.
func demand(processors, memory string) []*big.Rat {
	return []*big.Rat{num.Rat(processors), num.Rat(memory)}
}

// A training task needs 4 processors and little memory, a query task much memory. A job of either
// kind takes a minute if it has the whole cluster: 25 training tasks, or 20 query tasks.
func teamsAt(load string) *traffic.Model {
	// jobs of each kind per minute; one job of each kind together need 1.2 minutes of all
	// processors
	rate := new(big.Rat).Quo(num.Rat(load), num.Rat("1.2"))
	return &traffic.Model{Resources: resources(), Classes: []traffic.Class{
		{Name: "training", Demand: demand("4", "1.6"), ArrivalRate: rate, MeanSize: num.Rat("25")},
		{Name: "queries", Demand: demand("1", "20"), ArrivalRate: rate, MeanSize: num.Rat("20")},
	}}
}

func run(w io.Writer) error {
	for _, table := range []func(*tabwriter.Writer) error{printStatic, printTraffic, printLies} {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		if err := table(t); err != nil {
			return err
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// printStatic prints what each of ten training jobs and ten queries gets.
func printStatic(t *tabwriter.Writer) error {
	fmt.Fprintln(t, "Ten permanent training jobs and ten permanent queries, tasks of each job:")
	fmt.Fprintln(t, "\ttraining\tquery\tprocessors used\tmemory used")
	pool := teamsAt("0").Pool()
	for i := range pool.Jobs {
		pool.Jobs[i].Count = 10
	}
	for _, p := range policies {
		a, err := fluid.Allocate(context.Background(), pool, p.policy, fluid.Settings{})
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.0f %%\t%.0f %%\n", p.name, a.Jobs[0].Tasks.Float, a.Jobs[1].Tasks.Float,
			100*a.Resources[0].Utilization.Float, 100*a.Resources[1].Utilization.Float)
	}
	fmt.Fprintln(t)
	return nil
}

// printTraffic prints how long jobs take if they arrive and depart.
func printTraffic(t *tabwriter.Writer) error {
	fmt.Fprintln(t, "Jobs that arrive and depart, mean minutes of a training job and of a query:")
	fmt.Fprintln(t, "processors busy\t40 %\t\t60 %\t\t80 %\t\t90 %\t")
	for _, p := range policies {
		fmt.Fprint(t, p.name)
		for _, load := range []string{"0.4", "0.6", "0.8", "0.9"} {
			r, err := traffic.Solve(context.Background(), teamsAt(load), p.policy, traffic.Settings{})
			if err != nil {
				return err
			}
			fmt.Fprintf(t, "\t%.2f\t%.2f", *r.Classes[0].MeanDelay, *r.Classes[1].MeanDelay)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
	return nil
}

// printLies prints what queries gain by asking for more processors than they use.
func printLies(t *tabwriter.Writer) error {
	fmt.Fprintln(t, "Queries ask for more processors than they use; tasks of one permanent query, and "+
		"mean minutes at load 0.4:")
	fmt.Fprintln(t, "\tproportional fairness\t\t\tdominant resource fairness\t\t")
	fmt.Fprintln(t, "processors requested\ttasks\tquery\ttraining\ttasks\tquery\ttraining")
	for _, asked := range []string{"1", "2", "3", "4", "5", "7"} {
		fmt.Fprint(t, asked)
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
			m := teamsAt("0.4")
			m.Classes[1].Declared = demand(asked, "20")
			a, err := fluid.Allocate(context.Background(), m.Pool(), policy, fluid.Settings{})
			if err != nil {
				return err
			}
			fmt.Fprintf(t, "\t%.2f", a.Jobs[1].Tasks.Float)
			r, err := traffic.Solve(context.Background(), m, policy, traffic.Settings{})
			switch {
			case errors.Is(err, num.ErrUnstable):
				fmt.Fprint(t, "\toverloaded\t")
			case err != nil:
				return err
			default:
				fmt.Fprintf(t, "\t%.2f\t%.2f", *r.Classes[1].MeanDelay, *r.Classes[0].MeanDelay)
			}
		}
		fmt.Fprintln(t)
	}
	return nil
}
