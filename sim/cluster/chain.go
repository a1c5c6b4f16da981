package cluster

import (
	"math/rand/v2"

	"productform/sizes"
)

// A jumpChain is a cluster of which only the sizes of jobs, if made of exponential phases, and their places in the queue
// count: a Markov chain. It is simulated uniformized: a step is, with fixed probabilities, the arrival of a job of some class,
// the end of a phase at some server, or an interruption there; the latter two are nothing at an idle server. Each step stands
// for its expected time, 1/rate, so that no exponential variable is drawn, and time averages are averages over steps.
type jumpChain struct {
	table   sizes.AliasTable // of the codes 2s of a phase that ends at server s, 2s+1 of an interruption, arrivals+i
	rate    float64          // steps per unit of time
	phases  phaseCount
	classes int
	rows    []int32 // row of each server
}

// arrivals is the code of an arrival of class 0.
const arrivals = 1 << 24

// The codes below arrivals are enough for the places of classQueues, the largest there are.
const _ uint = arrivals - 2*maxServers*maxClassQueues

// batch is the number of steps drawn at a time.
const batch = 1024

// A phaseCount draws the number of phases of a job.
type phaseCount struct {
	fixed int // if > 0, of all jobs
	draw  func(*rand.Rand) int
}

// maxLinks bounds the links of jobs to their servers.
const maxLinks = 1 << 28
