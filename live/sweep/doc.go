// Package sweep does the runs of a simulation by the workers of the live system: how do I spread a long simulation over machines and have the
// same digits?
//
// A command of pfq or figures that simulates consists of runs, each of which has a key and a cost; a folder of results holds
// those that are done (package productform/sweep). The coordinator, [Run], makes a job of those that are missing:
//
//	list     COMMAND --results DIR --tasks list names the runs that are missing, with a fingerprint of the program
//	canary   the cheapest of them is done here, timed, and its result kept: its digest is what every worker has to reach
//	job      runs are put together in tasks of at least 20 ms, which are submitted with their works in seconds
//	results  what the workers computed is put into the folder
//	again    with --precision more runs may be missing now; else none is
//	answer   COMMAND --results DIR finds all runs and answers
//
// A worker runs its own copy of the program with --tasks serve, one child for each slot and job, which is kept for all the
// tasks of that job ([Runner]). It refuses a job if its copy has another digest, if the child has another fingerprint
// (version, system, arithmetic of the processor), or if the child computes another result for the canary. So the digits are those of one
// process. A worker that lies about its results cannot be found out here.
//
// For example:
//
//	c, stop := startCluster() // a client of a cluster, whose workers have a sweep.Runner
//	defer stop()
//	pfq, model, results := files() // the program, a model of a cluster for it, and a folder for what is done
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
