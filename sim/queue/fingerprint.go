package queue

import (
	"math/big"
	"math/rand/v2"

	"productform/oiqueue"
)

// fingerprints is the number of states at which a function is evaluated for its fingerprint.
const fingerprints = 50

// smallStates lists the classes of the jobs of some states, oldest first. The states depend only on
// the number of classes, and have 1 to 25 jobs of the given classes; small numbers are more
// frequent.
func smallStates(classes []int) [][]int {
	r := rand.New(rand.NewPCG(uint64(len(classes)), 0))
	var states [][]int
	for k := range fingerprints {
		state := make([]int, 1+k*k/100)
		for at := range state {
			state[at] = classes[r.IntN(len(classes))]
		}
		states = append(states, state)
	}
	return states
}

// withJobs lists the classes with arrivals.
func withJobs(rates []*big.Rat) []int {
	var list []int
	for i, r := range rates {
		if r.Sign() > 0 {
			list = append(list, i)
		}
	}
	return list
}

// fingerprint returns φ_i at small states for the classes that have jobs there.
func (n Network) fingerprint() ([]float64, error) {
	x, phi := make([]int, len(n.ArrivalRates)), make([]float64, len(n.ArrivalRates))
	var values []float64
	for _, jobs := range smallStates(withJobs(n.ArrivalRates)) {
		clear(x)
		for _, i := range jobs {
			x[i]++
		}
		if err := n.rates(x, phi); err != nil {
			return nil, err
		}
		for i, v := range phi {
			if x[i] > 0 {
				values = append(values, v)
			}
		}
	}
	return values, nil
}

// fingerprintOf returns μ at small states.
func fingerprintOf(q *oiqueue.Queue) ([]float64, error) {
	rates := newQueueRates(q, nil)
	x := make([]int, len(q.ArrivalRates))
	var values []float64
	for _, state := range smallStates(withJobs(q.ArrivalRates)) {
		clear(x)
		var jobs []visitor
		for _, i := range state {
			x[i]++
			jobs = append(jobs, visitor{class: i})
		}
		mu, err := rates.of(x, jobs)
		if err != nil {
			return nil, err
		}
		values = append(values, mu)
	}
	return values, nil
}
