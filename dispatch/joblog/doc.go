// Package joblog reads the logs of jobs that sites keep: which jobs did a cluster run, whatever
// program wrote the log? [Reader] recognizes the format by the first line that is not a comment:
//
//   - the Standard Workload Format of package swf;
//   - the output of sacct -P (Slurm), with columns in any order;
//   - CSV, TSV and other tables with a heading, separated by commas, tabs, semicolons or |;
//   - JSON lines, one object per line;
//   - accounting records of PBS and Torque.
//
// Each may be compressed with gzip or zstd. A job is a [swf.Job] in all formats. Columns are found
// by common names, such as Submit, submitted or submit_time, or by those of a [Dialect]. A job
// needs a run time, or a start and an end. Cells may be empty, -1, Unknown, None, "None assigned",
// N/A, NA, null, INVALID or a hyphen if the value is unknown.
//
// A time is a number of seconds from any origin, or a date such as 2026-03-01T12:30:00. A blank may
// replace the T, and a zone (Z, +01:00) may follow. Dates without a zone are read in the zone of
// the Dialect, or as UTC. A duration is a number of seconds, or [D-]HH:MM:SS or MM:SS as in Slurm.
// The run time is the elapsed time if the log has it, otherwise the end minus the start.
//
// Records that are not jobs that ran are dropped, and [Report] counts them by reason: steps of
// jobs, jobs that never started, have no end, end before they start, or have a time that the clocks
// of the zone skip or show twice. It also counts three kinds of odd jobs. The elapsed time of some
// differs from the end minus the start, by an hour for a change of the clock. Some start before
// their submission, so their waiting time is unknown. Others are submitted before the job above
// them or after the year 9999.
//
// For example:
//
//	text := `JobID|User|Submit|Start|End|Elapsed|AllocCPUS|State
//	71|ann|2026-03-01T12:00:00|2026-03-01T12:00:05|2026-03-01T12:02:05|00:02:00|4|COMPLETED
//	71.batch||2026-03-01T12:00:05|2026-03-01T12:00:05|2026-03-01T12:02:05|00:02:00|4|COMPLETED
//	`
//	r := joblog.NewReader(strings.NewReader(text), "march.txt", joblog.Dialect{})
//	for j, err := range r.All() {
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("job %d waited for %g s and ran for %g s on %d processors\n",
//			j.Number, j.Wait, j.RunTime, j.Processors)
//	}
//	for _, line := range r.Report().Lines() {
//		fmt.Println(line)
//	}
//	// Output:
//	// job 71 waited for 5 s and ran for 120 s on 4 processors
//	// steps of jobs are omitted: 1 record, the first in line 3
//	// times without a zone are read as UTC: 1 record, the first in line 2
package joblog
