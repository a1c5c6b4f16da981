// Package loss simulates the loss systems of package network/loss job by job: how many of the
// arriving jobs are lost? An arrival counts the units in use and looks for a free token; the state
// that arrivals find is measured. The simulation shares no formula with the solver.
//
// For example:
//
//	m, err := loss.Read(strings.NewReader(`
//	room: 10
//	classes: [{name: call, arrival_rate: 5}]
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	equal, err := sizes.NewDeterministic(1)
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := sim.Run(
//		context.Background(), simloss.System{Model: m, Shape: equal}, sim.Settings{Runs: 10, Jumps: 5e4, Seed: 1},
//	)
//	if err != nil {
//		log.Fatal(err)
//	}
//	exact, err := loss.ErlangB(context.Background(), 10, big.NewRat(5, 1), loss.FormulaSettings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	lost := r.Class(0, simloss.Blocking)
//	fmt.Printf("%.4f ± %.4f are lost, exactly %.4f\n", lost.Mean, lost.HalfWidth, exact.Float)
//	// Output: 0.0179 ± 0.0010 are lost, exactly 0.0184
package loss
