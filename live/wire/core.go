package wire

import "productform/dispatch"

// Rules are what the manager follows.
type Rules struct {
	Policy    dispatch.Policy   `json:"policy"`
	Learning  dispatch.Learning `json:"learning"`
	Emergency float64           `json:"emergency,omitempty"`
}

// A Happening is what the decision maker is told.
type Happening struct {
	Kind    dispatch.Kind `json:"kind"`
	Job     int           `json:"job,omitempty"`
	What    *dispatch.Job `json:"what,omitempty"`
	Worker  int           `json:"worker,omitempty"`
	Speed   float64       `json:"speed,omitempty"`
	Task    int           `json:"task,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Work    float64       `json:"work,omitempty"`
}

// An Event is what the decision maker answers.
type Event struct {
	Kind    dispatch.Kind `json:"kind"`
	Job     int           `json:"job,omitempty"`
	Task    int           `json:"task,omitempty"`
	Worker  int           `json:"worker,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
}
