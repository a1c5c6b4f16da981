package plan

// LeastPossibleDelay is the bound on mean delays that looks at capacities only, for tests.
var LeastPossibleDelay = leastDelay
