package logstats

import (
	"time"

	"productform/dispatch"
)

// A Result describes a log. Times are in seconds, work is in processor-seconds.
type Result struct {
	Jobs  int      `json:"job_count"`    // with known submission, run time and processors
	Users *int     `json:"user_count"`   // nil if no user is known
	First float64  `json:"first_submit"` // first submission
	Last  float64  `json:"last_submit"`  // last submission
	End   *float64 `json:"last_end"`     // end of the last job; nil if no waiting time is known
	Span  float64  `json:"span"`         // Last - First
	Work  float64  `json:"work"`         // Σ_j n_j T_j

	Processors *int64 `json:"processors"`      // m, of the cluster; nil if unknown
	Source     Source `json:"processors_from"` // where m comes from; empty if m is unknown
	// largest number of processors in use at a time, by jobs whose waiting time is known; nil if
	// there is none
	Peak *int64 `json:"peak_processors"`
	// Offered is Work / (m Span), and Carried the work done from First to Last by jobs whose
	// waiting time is known, divided in the same way; nil if the divisor is 0, the work is unknown
	// or the quotient is beyond the range of float64
	Offered *float64 `json:"offered_load"`
	Carried *float64 `json:"carried_load"`

	UnknownWaits int `json:"unknown_waits"` // jobs whose waiting time is unknown
	// Waiting is from submission to start, W_j, and Slowdown is max(1, (W_j + T_j) / max(T_j, 10
	// s)), of the other jobs; nil if there are none
	Waiting  *dispatch.Spread `json:"waiting"`
	Slowdown *dispatch.Spread `json:"bounded_slowdown"`
	RunTime  dispatch.Spread  `json:"run_time"` // T_j

	// squared coefficients of variation, variance / mean²: of the times between submissions, of run
	// times and of the work of jobs; nil if the mean is 0 or there is nothing to average
	GapSCV     *float64 `json:"interarrival_scv"`
	RunTimeSCV *float64 `json:"run_time_scv"`
	WorkSCV    *float64 `json:"work_scv"`

	Dispersion []Dispersion `json:"windows"` // by minute, hour and day, if the span has at least two of them
	// name of the zone of hours and weekdays; nil if it is unknown when the log was written
	Zone     *string    `json:"zone"`
	Hours    []Arrivals `json:"hours"`    // 0 to 23; nil without a zone
	Weekdays []Arrivals `json:"weekdays"` // Monday to Sunday; nil without a zone
	Groups   []Group    `json:"groups"`   // by the kinds in [Kinds] that the log has
}

// A Dispersion measures how much the number of submissions varies from window to window.
type Dispersion struct {
	Window  float64 `json:"window"`       // w, in seconds
	Windows float64 `json:"window_count"` // K = ⌊Span / w⌋; windows follow each other, starting at First
	Index   float64 `json:"dispersion"`   // variance of the K numbers, with K - 1, divided by their mean
}

// Arrivals is the number of jobs that are submitted in an hour of the day, or on a day of the week.
type Arrivals struct {
	When string `json:"when"`      // 00 to 23, or the name of the day in English
	Jobs int    `json:"job_count"` // submitted at that time
}

// A Group describes jobs with something in common.
type Group struct {
	Kind         string           `json:"kind"`             // of [Kinds]
	Name         *string          `json:"name"`             // nil for unknown
	Jobs         int              `json:"job_count"`        // number of jobs
	Share        *float64         `json:"work_share"`       // work, divided by [Result.Work]; nil if that is 0
	UnknownWaits int              `json:"unknown_waits"`    // jobs whose waiting time is unknown
	Waiting      *dispatch.Spread `json:"waiting"`          // waiting times of the other jobs
	Slowdown     *dispatch.Spread `json:"bounded_slowdown"` // slowdowns of the same jobs
}

// A Source names the origin of the number of processors.
type Source string

// The sources.
const (
	Given     Source = "settings"        // [Settings.Processors]
	OfHeader  Source = "MaxProcs"        // [Log.MaxProcs]
	PeakInUse Source = "peak_processors" // [Result.Peak]
)

// Settings tunes [Analyze]. The zero value is the default.
type Settings struct {
	// processors of the cluster; 0 for MaxProcs of the log, or the peak in use if there is none
	Processors int64
	Zone       *time.Location // zone of hours and weekdays; nil for that of the log, or UTC if there is none
}
