// Command storage finds the data set of a storage cluster that is slowed down most, and what would
// help: it solves the cluster of model.yaml as it is, then with each possible change.
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"slices"
	"strings"
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

func run(w io.Writer) error {
	m, err := read()
	if err != nil {
		return err
	}
	now, err := solve(m)
	if err != nil {
		return err
	}
	if err := now.print(w); err != nil {
		return err
	}
	worst := now.worst()
	options, err := changes(m, worst)
	if err != nil {
		return err
	}
	if err := now.printWorth(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nChanges that help %s (delays in ms):\n", m.Classes[worst].Name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "change\tdelay of %s\tdelay of all\treads may grow by\n", m.Classes[worst].Name)
	for _, c := range options {
		a, err := solve(c.model)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%.0f %%\n",
			c.name, 1000*a.result.Classes[worst].MeanDelay.Float, 1000*a.result.MeanDelay.Float, a.growth())
	}
	return t.Flush()
}

func read() (*cluster.Model, error) { return cluster.ReadYAML(bytes.NewReader(model)) }

// An answer is a cluster with its results.
type answer struct {
	model  *cluster.Model
	result *bf.Result
	limits *stability.Result
}

func solve(m *cluster.Model) (answer, error) {
	r, err := bf.Solve(context.Background(), m, bf.Settings{})
	if err != nil {
		return answer{}, err
	}
	s, err := stability.Cluster(context.Background(), m)
	return answer{m, r, s}, err
}

// slowdown returns how much longer a read of class i takes than it would alone in the cluster.
func (a answer) slowdown(i int) float64 {
	capacity := new(big.Rat)
	for _, c := range a.model.Classes[i].Servers {
		capacity.Add(capacity, a.model.Servers[c.Server].Capacity)
	}
	alone, _ := capacity.Float64()
	return alone / a.result.Classes[i].ServiceRate.Float
}

// worst returns the class that the others slow down most.
func (a answer) worst() int {
	worst := 0
	for i := range a.model.Classes {
		if a.slowdown(i) > a.slowdown(worst) {
			worst = i
		}
	}
	return worst
}

// growth returns by how many percent all arrival rates may grow before the cluster is unstable.
func (a answer) growth() float64 {
	scale, _ := a.limits.CriticalScale.Float64()
	return 100 * (scale - 1)
}

func (a answer) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "data set\treplicas on\treads/s\tdelay (ms)\ttimes that of a lone read")
	for i, c := range a.model.Classes {
		var nodes []string
		for _, s := range c.Servers {
			nodes = append(nodes, a.model.Servers[s.Server].Name)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.0f\t%.2f\n", c.Name, strings.Join(nodes, " "), c.ArrivalRate.FloatString(1),
			1000*a.result.Classes[i].MeanDelay.Float, a.slowdown(i))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var names []string
	for _, i := range a.limits.Bottleneck {
		names = append(names, a.model.Classes[i].Name)
	}
	fmt.Fprintf(w, "\nBottleneck: %s, %s MB/s on nodes that do %s MB/s. All reads may grow by %.0f %%.\n",
		strings.Join(names, ", "),
		a.limits.Arrival.FloatString(0), a.limits.Capacity.FloatString(0), a.growth())
	return nil
}

// printWorth prints how much additional bandwidth helps on the four nodes where it helps most, and
// on the one where it helps least.
func (a answer) printWorth(w io.Writer) error {
	r, err := bf.Answer(context.Background(), a.model, bf.Question{Gradient: true}, bf.Settings{})
	if err != nil {
		return err
	}
	g := r.Gradient
	nodes := make([]int, len(a.model.Servers))
	for s := range nodes {
		nodes[s] = s
	}
	slices.SortStableFunc(nodes, func(x, y int) int {
		return cmp.Compare(g.Capacities[x].Float, g.Capacities[y].Float)
	})
	fmt.Fprintf(w, "10 MB/s more on a node would lower the %.1f reads in progress by about", a.result.MeanJobs.Float)
	for _, s := range append(slices.Clone(nodes[:4]), nodes[len(nodes)-1]) {
		fmt.Fprintf(w, " %.2f (%s)", -10*g.Capacities[s].Float, a.model.Servers[s].Name)
	}
	_, err = fmt.Fprintln(w)
	return err
}

// A change is a modified cluster, with a description of the change.
type change struct {
	name  string
	model *cluster.Model
}

// changes returns the possible changes that help a class.
func changes(m *cluster.Model, class int) ([]change, error) {
	server := func(name string) int {
		return slices.IndexFunc(m.Servers, func(s cluster.Server) bool { return s.Name == name })
	}
	best, err := bestReplica(m, class)
	if err != nil {
		return nil, err
	}
	c1, c2, c3 := server("c1"), server("c2"), server("c3")
	return []change{
		{"none", m},
		{"replica on " + m.Servers[best].Name + ", the best node", withReplica(m, class, best)},
		{"replica on c3, in its own rack", withReplica(m, class, c3)},
		{"c2 moved to " + m.Servers[best].Name, withoutReplica(withReplica(m, class, best), class, c2)},
		{"c1 and c2 at 200 MB/s", withCapacity(withCapacity(m, c1, 200), c2, 200)},
		{"new node a5 at 200 MB/s for images and scans-a", withNode(m, "a5", 200, "images", "scans-a")},
		{"new node c5 at 100 MB/s for sessions and scans-c", withNode(m, "c5", 100, "sessions", "scans-c")},
	}, nil
}

// bestReplica returns the server on which one more replica lowers the mean delay of all reads most.
func bestReplica(m *cluster.Model, class int) (int, error) {
	best, least := -1, 0.0
	for s := range m.Servers {
		if slices.ContainsFunc(m.Classes[class].Servers, func(c cluster.Choice) bool { return c.Server == s }) {
			continue
		}
		r, err := bf.Solve(context.Background(), withReplica(m, class, s), bf.Settings{})
		if err != nil {
			return 0, err
		}
		if best < 0 || r.MeanDelay.Float < least {
			best, least = s, r.MeanDelay.Float
		}
	}
	return best, nil
}

// clone copies the parts of a model that the changes modify.
func clone(m *cluster.Model) *cluster.Model {
	out := *m
	out.Servers = slices.Clone(m.Servers)
	out.Classes = slices.Clone(m.Classes)
	for i := range out.Classes {
		out.Classes[i].Servers = slices.Clone(out.Classes[i].Servers)
	}
	return &out
}

func withReplica(m *cluster.Model, class, server int) *cluster.Model {
	m = clone(m)
	m.Classes[class].Servers = append(m.Classes[class].Servers, cluster.On(server)...)
	return m
}

func withoutReplica(m *cluster.Model, class, server int) *cluster.Model {
	m = clone(m)
	m.Classes[class].Servers = slices.DeleteFunc(m.Classes[class].Servers, func(c cluster.Choice) bool {
		return c.Server == server
	})
	return m
}

func withCapacity(m *cluster.Model, server int, capacity int64) *cluster.Model {
	m = clone(m)
	m.Servers[server].Capacity = big.NewRat(capacity, 1)
	return m
}

func withNode(m *cluster.Model, name string, capacity int64, classes ...string) *cluster.Model {
	m = clone(m)
	m.Servers = append(m.Servers, cluster.Server{Name: name, Capacity: big.NewRat(capacity, 1)})
	for i, c := range m.Classes {
		if slices.Contains(classes, c.Name) {
			m = withReplica(m, i, len(m.Servers)-1)
		}
	}
	return m
}
