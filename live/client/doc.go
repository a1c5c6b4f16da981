// Package client submits jobs to the live system, waits for them and reads their results.
//
// A client asks and goes away: what it has submitted runs without it, and a client that comes back finds jobs and results
// under their names ([L14], sections 3.3 and 4.3). All that it writes is written once, however often it is tried; a server
// that is away for a moment is waited for. One connection carries all, whatever the number of jobs.
//
//	Submit   a batch of jobs, all or none of which the manager accepts
//	Wait     until jobs are done
//	Results  of a job, as they come
//	Cancel, Change, Clear, Drain   wishes about jobs and workers
//	Jobs, Workers, Status          how things stand
package client
