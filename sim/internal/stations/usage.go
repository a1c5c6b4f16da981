package stations

// A Usage measures how long each server has jobs that it can serve. Times count from the start
// of the current advance.
type Usage []usage

type usage struct {
	jobs        int
	since, area float64 // time of the last change, and the integral of jobs up to then
}

// Change adds the time since the last change of a server to its busy time, if it has jobs, and then
// changes the number of its jobs.
func (u Usage) Change(server, by int, now float64, busy []float64) {
	s := &u[server]
	t := now - s.since
	if s.jobs > 0 {
		busy[server] += t
	}
	s.area += float64(s.jobs) * t
	s.since = now
	s.jobs += by
}

// Flush counts up to the end of an advance at time t, which becomes time 0.
func (u Usage) Flush(t float64, busy []float64) {
	for s := range u {
		u.Change(s, 0, t, busy)
		u[s].since = 0
	}
}

// Jobs returns the number of jobs that a server can serve.
func (u Usage) Jobs(server int) int { return u[server].jobs }

// Area returns the integral of the number of jobs of a server since Restart.
func (u Usage) Area(server int) float64 { return u[server].area }

// Restart sets the integrals of the numbers of jobs to 0.
func (u Usage) Restart() {
	for s := range u {
		u[s].area = 0
	}
}
