// Package swap simulates pass-and-swap queues, of package network/swap, job by job: each server works on the first job that it can serve, and a job that is done
// goes through the queue and takes the place of the first that it can swap with. It shares no formula with the solver.
package swap
