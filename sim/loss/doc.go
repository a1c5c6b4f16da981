// Package loss simulates systems in which arrivals that do not fit are lost, of package network/loss, job by job: an arrival counts what is in use and looks
// for a free token, and what it meets is what is measured. It shares no formula with the solver.
package loss
