package cluster

import (
	"math/rand/v2"

	"productform/sizes"
)

// A jumpChain is a cluster in which only the sizes of jobs, made of exponential phases, and their
// places in the queue matter: a Markov chain. It is simulated by uniformization: a step is, with
// fixed probabilities, the arrival of a job of some class, the end of a phase at some server, or an
// interruption there; the latter two have no effect at an idle server. Each step counts for its
// expected time, 1/rate, so no exponential variables are drawn, and time averages are averages over
// steps.
type jumpChain struct {
	table   sizes.AliasTable // of the codes 2s for the end of a phase at server s, 2s+1 for an interruption, arrivals+i
	rate    float64          // steps per unit of time
	phases  phaseCount
	classes int
	rows    []int32 // row of each server
}

// arrivals is the code of an arrival of class 0.
const arrivals = 1 << 24

// The codes below arrivals suffice for the indices of classQueues, which are the largest.
const _ uint = arrivals - 2*maxServers*maxClassQueues

// batch is the number of steps drawn at a time.
const batch = 1024

// A phaseCount draws the number of phases of a job.
type phaseCount struct {
	fixed int // if > 0, of all jobs
	draw  func(*rand.Rand) int
}

// maxLinks limits the links between jobs and their servers.
const maxLinks = 1 << 28
