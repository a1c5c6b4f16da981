// Package waiting encloses the distribution of a job's delay at an FCFS station with equal servers
// and exponential sizes: how long does a job take, given the jobs that it finds?
//
// With m servers that each complete jobs at rate ν, a job that finds n jobs has a delay S,
// exponential of rate ν, if n < m. Otherwise it has to wait for k = n - m + 1 departures, a time
// E_k of k stages of rate mν, and then takes S,
//
//	P(E_k + S > t) = P(Poisson(mνt) < k) + e^(-νt) (m/(m-1))^k P(Poisson((m-1)νt) >= k),   for m = 1 P(Poisson(νt) <= k),
//
// where the second term is the density of E_k times e^(-ν(t-s)), integrated over s. All sums are of
// positive terms in intervals.
package waiting
