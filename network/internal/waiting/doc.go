// Package waiting encloses the distribution of the delay of a job at equal servers in order of arrival, with exponential sizes, given what it finds.
//
// With m servers that each end jobs at rate ν, a job that finds n jobs ends its delay after an exponential time S of rate ν if n < m, or else after k = n - m + 1 times E_k of
// rate mν and one of rate ν,
//
//	P(E_k + S > t) = P(Poisson(mνt) < k) + e^(-νt) (m/(m-1))^k P(Poisson((m-1)νt) >= k),   for m = 1 P(Poisson(νt) <= k),
//
// of which the second term is the density of E_k times e^(-ν(t-s)), integrated over s. All sums are of positive terms in intervals.
package waiting
