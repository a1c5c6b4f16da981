// Command racks asks where the second replica of a busy rack's data belongs, in a cluster of four
// racks of 25 servers. It solves the cluster of model.yaml for several placements.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"text/tabwriter"

	"productform/bf"
	"productform/cluster"
	"productform/stability"
)

//go:embed model.yaml
var model []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// A placement selects the servers with the replicas of each job of rack 1.
type placement struct {
	name    string
	servers []cluster.Choice // Choose servers of the rack Server, drawn at random
}

func placements() []placement {
	return []placement{
		{"2 in rack 1", []cluster.Choice{{Server: 0, Choose: 2}}},
		{"3 in rack 1", []cluster.Choice{{Server: 0, Choose: 3}}},
		{"1 in rack 1, 1 in rack 2", []cluster.Choice{{Server: 0, Choose: 1}, {Server: 1, Choose: 1}}},
		{"1 in rack 1, 1 in rack 4", []cluster.Choice{{Server: 0, Choose: 1}, {Server: 3, Choose: 1}}},
		{"2 in rack 1, 1 in rack 4", []cluster.Choice{{Server: 0, Choose: 2}, {Server: 3, Choose: 1}}},
	}
}

func run(w io.Writer) error {
	m, err := cluster.ReadYAML(bytes.NewReader(model))
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "Mean delays by class, and of all jobs:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "replicas of local-1\t")
	for _, c := range m.Classes {
		fmt.Fprintf(t, "%s\t", c.Name)
	}
	fmt.Fprintln(t, "all\track 1 busy\track 4 busy\tload may grow by")
	for _, p := range placements() {
		placed := place(m, p)
		r, err := bf.Solve(context.Background(), placed, bf.Settings{})
		if err != nil {
			return err
		}
		s, err := stability.Cluster(context.Background(), placed)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t", p.name)
		for _, c := range r.Classes {
			fmt.Fprintf(t, "%.3f\t", c.MeanDelay.Float)
		}
		scale, _ := s.CriticalScale.Float64()
		fmt.Fprintf(t, "%.3f\t%.0f %%\t%.0f %%\t%.0f %%\n", r.MeanDelay.Float,
			100*r.Servers[0].Utilization.Float, 100*r.Servers[3].Utilization.Float, 100*(scale-1))
	}
	return t.Flush()
}

// place returns m with the data of rack 1 placed as p says.
func place(m *cluster.Model, p placement) *cluster.Model {
	out := *m
	out.Classes = append([]cluster.Class(nil), m.Classes...)
	out.Classes[0].Servers = p.servers
	return &out
}
