// Package audit finds faults of an allocation of divisible resources: which jobs get less than an
// equal share, envy others, or gain by lying? [Audit] finds jobs that get less than their share,
// envy others or could run more, with witnesses; [Indices] measures the efficiency and evenness of
// an allocation; [BestLie] finds the largest gain of a job from false demands. Models, policies and
// symbols are those of package fluid.
//
// For example:
//
//	pool, err := fluid.ReadPool(strings.NewReader(`
//	resources: [{name: cpu, capacity: 9}, {name: ram, capacity: 18}]
//	jobs: [{name: a, demand: {cpu: 1, ram: 4}}, {name: b, demand: {cpu: 3, ram: 1}}]
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	a, err := fluid.Allocate(context.Background(), pool, fluid.DRF, fluid.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := audit.Audit(context.Background(), pool, a.TaskFractions(), a.Tolerance())
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("feasible:", r.Overload == nil, "no envy:", r.Envy == nil, "no shortfall:", r.Shortfall == nil)
//	lie, err := audit.BestLie(context.Background(), pool, fluid.PF, 1, audit.LieSettings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("under PF, b gains by declaring %v: %.3f times the tasks\n", lie.Declared, lie.Gain.Float)
//	// Output:
//	// feasible: true no envy: true no shortfall: true
//	// under PF, b gains by declaring [3/1 4/1]: 1.375 times the tasks
package audit
