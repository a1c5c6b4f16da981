// Package network simulates networks of stations, of package network, job by job: each station serves its jobs by its own rule,
// and each job draws its work and its way. It shares no formula with the solvers.
package network
