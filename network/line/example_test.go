package line_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/network"
	"productform/network/line"
)

func Example() {
	m, err := line.Read(
		strings.NewReader(`{"format": "line-model", "version": "1.0", "model": {"type": "Network", "name": "shop",
 "nodes": [
   {"name": "Think", "type": "Delay", "service": {"Users": {"type": "Exp", "params": {"lambda": 0.2}}}},
   {"name": "Disk", "type": "Queue", "scheduling": "PS", "servers": 2,
     "service": {"Users": {"type": "Exp", "params": {"lambda": 30}}}}],
 "classes": [{"name": "Users", "type": "Closed", "population": 40, "refNode": "Think"}],
 "routing": {"type": "matrix", "matrix": {"Users,Users": {
   "Think": {"Disk": 1}, "Disk": {"Think": 0.5, "Disk": 0.5}}}}}}`),
	)
	if err != nil {
		log.Fatal(err)
	}
	r, err := network.Solve(context.Background(), m, network.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f cycles a second\n", r.Chains[0].Throughput.Float)
	// Output: 7.8877 cycles a second
}

// Read rejects a station without a product form and names its field.
func ExampleRead() {
	_, err := line.Read(
		strings.NewReader(`{"format": "line-model", "version": "1.0", "model": {"type": "Network", "name": "shop",
 "nodes": [
   {"name": "Think", "type": "Delay", "service": {"Users": {"type": "Exp", "params": {"lambda": 0.2}}}},
   {"name": "Disk", "type": "Queue", "scheduling": "SJF", "servers": 2,
     "service": {"Users": {"type": "Exp", "params": {"lambda": 30}}}}],
 "classes": [{"name": "Users", "type": "Closed", "population": 40, "refNode": "Think"}],
 "routing": {"type": "matrix", "matrix": {"Users,Users": {"Think": {"Disk": 1}, "Disk": {"Think": 1}}}}}}`),
	)
	fmt.Println(err)
	// Output: line 4: model.nodes[1].scheduling = a string "SJF": want one of INF (the only one of a Delay), FCFS, PS, LCFSPR, SIRO: no other strategy is supported
}
