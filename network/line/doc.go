// Package line reads queueing networks in the JSON format of LINE
// (https://line-solver.sourceforge.net) as networks of product form: what are the exact answers to
// such a model?
//
// A file has nodes, classes and a matrix of routing probabilities:
//
//	m, err := line.Read(
//		strings.NewReader(`{"format": "line-model", "version": "1.0", "model": {"type": "Network", "name": "shop",
//	 "nodes": [
//	   {"name": "Think", "type": "Delay", "service": {"Users": {"type": "Exp", "params": {"lambda": 0.2}}}},
//	   {"name": "Disk", "type": "Queue", "scheduling": "PS", "servers": 2,
//	     "service": {"Users": {"type": "Exp", "params": {"lambda": 30}}}}],
//	 "classes": [{"name": "Users", "type": "Closed", "population": 40, "refNode": "Think"}],
//	 "routing": {"type": "matrix", "matrix": {"Users,Users": {
//	   "Think": {"Disk": 1}, "Disk": {"Think": 0.5, "Disk": 0.5}}}}}}`),
//	)
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := network.Solve(context.Background(), m, network.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("%.4f cycles a second\n", r.Chains[0].Throughput.Float)
//	// Output: 7.8877 cycles a second
//
// The reader takes nodes of the types Source, Sink, Queue, Delay, Router and ClassSwitch; the
// scheduling INF, FCFS, PS, LCFSPR and SIRO; classes of the types Open and Closed; and routing by a
// matrix, from "class,class" to nodes. Service is Exp or, if only its mean matters (INF, PS, and
// LCFSPR with one server), any of Det, Erlang, HyperExp, Coxian, APH, PH, Uniform and Pareto, and
// Gamma, Lognormal and Weibull by a fit. The network keeps only the means of these distributions: a
// simulation draws exponential sizes by default. The reader rejects everything else, and the error
// names it: buffers, priorities in scheduling, other routing strategies, finite regions, layered
// networks.
package line
