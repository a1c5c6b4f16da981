// Package sweep distributes the runs of a simulation to the workers of the live system: how do I
// spread a long simulation over machines and get the same digits?
//
// A simulation command of pfq or figures consists of runs, each with a key and a cost. A folder of
// results holds the finished runs (package productform/sweep). The coordinator, [Run], submits the
// missing ones as a job:
//
//	list     COMMAND --results DIR --tasks list lists the missing runs and a fingerprint of the program
//	canary   the cheapest run is computed and timed here: every worker must reproduce its result
//	job      runs are combined into tasks of at least 20 ms, and submitted with their works in seconds
//	results  results of the workers are stored in the folder
//	again    with --precision, more runs may now be missing
//	answer   COMMAND --results DIR finds all runs and prints the answer
//
// A worker runs its own copy of the program with --tasks serve. It uses one child per slot and job,
// which serves all tasks of that job ([Runner]). It refuses a job if its copy of the program has
// another digest, if the child has another fingerprint (version, system, arithmetic of the
// processor), or if the child computes another result for the canary. This guarantees the digits of
// a single process. The package cannot detect a worker that falsifies its results.
//
// For example:
//
//	c, stop := startCluster() // a client of a cluster, whose workers have a sweep.Runner
//	defer stop()
//	pfq, model, results := files() // the program, a model of a cluster, and a folder for results
//	defer os.RemoveAll(results)
//	words := []string{pfq, "simulate", model, "--runs", "20", "--jumps", "1000", "--format", "json"}
//	command, err := sweep.NewCommand(words, results)
//	if err != nil {
//		log.Fatal(err)
//	}
//	var many bytes.Buffer
//	settings := sweep.Settings{Queue: sweep.Queue{Priority: 3}, Stdout: &many, Stderr: os.Stderr}
//	if err := sweep.Run(context.Background(), command, settings, c.RunJob); err != nil {
//		log.Fatal(err)
//	}
//	one, err := exec.Command(words[0], words[1:]...).Output()
//	fmt.Println("same digits as in one process:", many.String() == withoutSpeed(one), err)
//	// Output: same digits as in one process: true <nil>
package sweep
