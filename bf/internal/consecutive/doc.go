// Package consecutive answers: what are the measures of servers in a line or a ring if every class
// uses consecutive servers? The server recursion
//
//	Z(K) = Σ_{s∈K} C_s Z(K∖{s}) / (M(K) - λ(K)),  Z(∅) = 1,
//
// then needs only intervals: removing server t from i..j leaves i..t-1 and t+1..j, which no class
// links, so
//
//	Z(i..j) = Σ_{t=i..j} C_t Z(i..t-1) Z(t+1..j) / (M(i..j) - λ(i..j)).
//
// A ring becomes a line when a first server is removed. n servers have n²/2 intervals in a line and
// n² in a ring, whatever the capacities, the rates and the lengths of classes; each value costs one
// inner product of two table rows. On a line [Solve] takes n³/6 products upwards and n³/3
// downwards, three times as many on a ring, and 48 bytes per interval.
package consecutive
