package command

import "productform/internal/render"

// A Service is the name, in answers, of the way a cluster serves its jobs.
type Service string

// AllServers serves each job on all its servers at once.
const AllServers Service = "all"

// Write writes a line that explains the service.
func (s Service) Write(t *render.Text) {
	t.Line("each job runs on all its servers at once (one server per job: see pfq network)")
}
