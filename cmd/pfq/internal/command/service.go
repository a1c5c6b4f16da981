package command

import "productform/internal/render"

// A Service names, in answers, how a cluster serves its jobs.
type Service string

// AllServers serves each job on all its servers at once.
const AllServers Service = "all"

// DifferentSizes is the note on an answer of balanced fairness for classes of different mean sizes.
const DifferentSizes = "mean sizes differ by class: the answer is that of balanced fairness, " +
	"not that of first come, first served"

// Head returns the first fields of an answer.
func (s Service) Head(stable bool) render.Record {
	return render.Record{}.Set("stable", stable, "").Set("service", s, "")
}

// Write writes a line that explains the service.
func (s Service) Write(t *render.Text) {
	t.Line("each job runs on all its servers at once (one server per job: see pfq network)")
}
