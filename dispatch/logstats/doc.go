// Package logstats describes the log of a cluster: how loaded was it, who waited how long, and do
// jobs arrive, and vary in size, as simple models assume? [Read] takes from a log the jobs whose
// submission, run time and processors are known, [Analyze] describes them, and [FitModel] returns a
// model of them for packages gang and oneserver.
//
// Work is in processor-seconds: job j of run time T_j on n_j processors has n_j T_j. From the first
// submission to the last, S seconds later, the offered load of m processors is
//
//	Σ_j n_j T_j / (m S),
//
// and the carried load is the work that was done in that time, divided by m S. Numbers of
// submissions in windows of equal length have an index of dispersion, variance / mean, of 1 if
// jobs arrive as a Poisson process; and exponential sizes have variance / mean² = 1.
//
// For example:
//
//	text := `job,submitted,started,ended,cpus,user
//	1,0,0,60,4,ann
//	2,30,60,90,4,bob
//	3,100,100,150,2,ann
//	`
//	reader := joblog.NewReader(strings.NewReader(text), "jobs.csv", joblog.Dialect{})
//	jobs, err := logstats.Read(context.Background(), reader, "jobs.csv")
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := logstats.Analyze(context.Background(), jobs, logstats.Settings{Processors: 8})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("%d jobs, offered load %.3f, carried load %.3f\n", r.Jobs, *r.Offered, *r.Carried)
//	// Output:
//	// 3 jobs, offered load 0.575, carried load 0.450
package logstats
