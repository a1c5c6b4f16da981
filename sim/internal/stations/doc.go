// Package stations serves jobs one by one, by the literal rules of disciplines. Networks and systems with losses are made of stations: a room of
// them says which jobs arrive where, with how much work, and where they go when a station lets them go.
//
// All stations do work at rates that change only when a job arrives or leaves. An event allocates nothing but room for more jobs than ever before.
package stations

// A Job is one at a station.
type Job struct {
	ID    int32 // that its room gave it
	Class int32 // of the classes of the station
}

// A Station serves jobs. Times count from the start of the current advance, and no method goes back in time.
type Station interface {
	// Arrive takes in a job with so much work > 0. The error is that of rates which cannot be told; then the run is to end.
	Arrive(now float64, job Job, work float64) error
	// Next returns the time at which the next job leaves if no other arrives, +Inf if none does.
	Next() float64
	// Depart lets go of the job that leaves next, at the time Next. The error is that of Arrive.
	Depart() (Job, error)
	// Rate returns the work that is done per unit of time.
	Rate() float64
	// Shift makes t time 0.
	Shift(t float64)
}
