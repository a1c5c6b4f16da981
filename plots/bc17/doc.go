// Package bc17 answers, with the figures of Bonald and Comte, "Balanced fair resource sharing in
// computer clusters", Performance Evaluation 116 (2017), 70–83 ([BC17]), section 5: how close do
// FCFS servers come to balanced fairness if they occasionally interrupt jobs?
//
// The mean service rate γ_i = λ_i σ / E[X_i] and the mean delay δ_i = E[X_i]/λ_i = σ/γ_i of class-i
// jobs are shown against the load ρ = Σ_i λ_i σ / Σ_s C_s, exact under balanced fairness and
// simulated for first come, first served and for m interruptions per job (bf-1 to bf-4). Two more
// figures show how the mean delay approaches its value under balanced fairness as m grows (bf-5),
// and the distribution of the number of jobs (bf-6).
//
// For example:
//
//	figures := bc17.Figures()
//	fmt.Println(bc17.Source().Title)
//	for _, f := range figures[:2] {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// Balanced fair resource sharing in computer clusters
//	// bf-1 Two classes sharing three equal servers
//	// bf-2 Two classes, one with an exclusive server
package bc17
