package cluster

import (
	"math/rand/v2"

	"productform/sizes"
)

// A jumpChain is a cluster that is a Markov chain: sizes consist of exponential phases, and only
// the remaining phases of jobs and their positions in the queue matter. It is simulated by
// uniformization: a step is, with fixed probabilities, the arrival of a job of some class, the end
// of a phase at some server, or an interruption there. The latter two have no effect at an idle
// server. Each step counts for its expected time, 1/rate, so no exponential variables are drawn,
// and time averages are averages over steps.
type jumpChain struct {
	// codes: 2s is the end of a phase at server s, 2s+1 an interruption, arrivals+i an arrival of
	// class i
	table   sizes.AliasTable
	rate    float64 // steps per unit of time
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
	fixed int // if > 0, the number for all jobs
	draw  func(*rand.Rand) int
}

// maxLinks is the maximum number of links between jobs and their servers.
const maxLinks = 1 << 28
