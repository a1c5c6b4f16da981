package dispatch_test

// The valid values of entries, in errors about samples.
const (
	wantDistribution = "a distribution"
	wantParallelism  = "an integer >= 1, or 0 without deadlines"
	wantHighest      = "a number in [1, 1e50], at least the lowest priority"
	wantHigh         = "a number in [2, 1e50], at least the low end"
	wantFactor       = "a number in [1e-50, 1e50], or 0 for no deadlines"
	wantProcessors   = "an integer in [0, 1000000000], or -1 for unknown"
)
