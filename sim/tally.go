package sim

// A tally adds up what is seen of a system, in units of time.
type tally struct {
	time    float64     // observed
	jumps   float64     // arrivals, ends of phases and interruptions
	jobs    []float64   // ∫ X_i dt by class
	square  float64     // ∫ n² dt, n the number of jobs in all
	count   []float64   // ∫ 1{n = k} dt; as long as the largest n seen asks
	busy    []float64   // ∫ 1{s busy} dt by row of servers, summed over the servers of a group
	sojourn []float64   // sum of the sojourn times of the jobs that left, by class
	left    []float64   // jobs that left, by class
	farm    *farmTally  // of a farm, else nil
	tasks   *tasksTally // of Tasks, else nil
}

func newTally(classes, servers int) *tally {
	return &tally{jobs: make([]float64, classes), busy: make([]float64, servers), sojourn: make([]float64, classes), left: make([]float64, classes)}
}

// add adds t units of time with n jobs.
func (y *tally) add(n int, t float64) {
	if n >= len(y.count) {
		y.count = append(y.count, make([]float64, n+1-len(y.count))...)
	}
	y.count[n] += t
	y.square += float64(n) * float64(n) * t
}

// total returns ∫ n dt.
func (y *tally) total() float64 {
	if y.tasks != nil && y.tasks.standing {
		return y.tasks.total(y.time)
	}
	var sum float64
	for _, v := range y.jobs {
		sum += v
	}
	return sum
}

// An engine is a system in motion. It starts empty.
type engine interface {
	// advance simulates the next t units of time and adds what happens to y.
	advance(t float64, y *tally) error
}
