// Package stations serves jobs one by one according to the rules of a discipline: which job departs
// next, and when? Networks and loss systems are built from stations. Their engines decide which
// jobs arrive where, with how much work, and where jobs go when they depart.
//
// All stations work at rates that change only when a job arrives or departs. An event allocates
// only when there are more jobs than ever before.
package stations

// A Job is a job at a station.
type Job struct {
	ID    int32 // assigned by the engine
	Class int32 // index among the classes of the station
}

// A Station serves jobs. Times count from the start of the current advance, and must not decrease
// from call to call.
type Station interface {
	// Arrive adds a job with work > 0. An error means that the rates could not be computed; the run
	// must then end.
	Arrive(now float64, job Job, work float64) error
	// Next returns the time of the next departure if no other job arrives, or +Inf if no job
	// departs.
	Next() float64
	// Depart removes the job that departs next, at the time Next. It returns the same errors as
	// Arrive.
	Depart() (Job, error)
	// Rate returns the work done per unit of time.
	Rate() float64
	// Shift makes t time 0.
	Shift(t float64)
}
