// Package intervals computes the measures of servers in a line, or in a ring, of which every class uses neighbours. What is left of
// the server recursion
//
//	Z(K) = Σ_{s∈K} C_s Z(K∖{s}) / (M(K) - λ(K)),  Z(∅) = 1,
//
// are the intervals: taking server t out of i..j leaves i..t-1 and t+1..j, which no class links, so that
//
//	Z(i..j) = Σ_{t=i..j} C_t Z(i..t-1) Z(t+1..j) / (M(i..j) - λ(i..j)).
//
// A ring becomes a line when its first server is taken out. n servers in a line have n²/2 intervals and a ring n², whatever the
// capacities, the rates and the lengths of classes; a number costs one inner product of two rows of tables. [Solve] takes n³/6 products up
// and n³/3 down on a line, three times as many on a ring, and 48 bytes an interval.
package intervals
