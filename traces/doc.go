// Package traces holds real logs of clusters, packed into the program, for models that want the
// sizes, the processors or the arrivals of jobs as they were: what did people run? The logs are in
// Standard Workload Format, version 2.2: 18 columns, comments after ";", -1 for what is unknown.
//
// For example:
//
//	fmt.Println(traces.Names())
//	text, err := traces.Open("SDSC-Par-1996")
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer text.Close()
//	jobs := swf.NewReader(text, "SDSC-Par-1996").All()
//	for job, err := range jobs {
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("the first job ran for %g seconds on %d processors\n", job.RunTime, job.Processors)
//		break
//	}
//	// Output:
//	// [SDSC-Par-1996]
//	// the first job ran for 19025 seconds on 64 processors
//
// They come from the Parallel Workloads Archive of Dror Feitelson, Hebrew University of Jerusalem,
// which asks to cite D. Feitelson, D. Tsafrir and D. Krakov, "Experience with using the Parallel
// Workloads Archive", Journal of Parallel and Distributed Computing 74(10), 2014, 2967–2982.
//
//	SDSC-Par-1996  Intel Paragon of 400 processors, San Diego Supercomputer Center, 27 December 1995 to
//	               31 December 1996: 32,135 jobs, version 3.1, cleaned. We thank Reagan Moore and Allen Downey,
//	               who gave it to the archive.
package traces
