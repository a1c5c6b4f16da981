package command

import "productform/internal/render"

// A Service is how the jobs of a cluster are served, as answers name it.
type Service string

// AllServers serves each job on all its servers at once.
const AllServers Service = "all"

// Write writes a line that explains the service.
func (s Service) Write(t *render.Text) {
	t.Line("each job runs on all its servers at once (one server per job: see pfq network)")
}
