package sim

// A census counts the jobs of an engine in continuous time. A number is added to a tally when it changes, times how long it
// has lasted, so that an event takes constant time for any number of classes. Times count from the start of the current advance.
type census struct {
	total   int       // jobs
	counted float64   // time up to which total is counted
	present []int     // jobs by class
	changed []float64 // time up to which present is counted
}

func newCensus(classes int) census {
	return census{present: make([]int, classes), changed: make([]float64, classes)}
}

// change counts the jobs up to now, and by more of a class from now on.
func (c *census) change(class, by int, now float64, y *tally) {
	y.add(c.total, now-c.counted)
	y.jobs[class] += float64(c.present[class]) * (now - c.changed[class])
	c.counted, c.changed[class] = now, now
	c.total += by
	c.present[class] += by
}

// rest counts what lasts until the end of an advance at time t, which becomes time 0.
func (c *census) rest(t float64, y *tally) {
	y.time += t
	y.add(c.total, t-c.counted)
	for class, n := range c.present {
		y.jobs[class] += float64(n) * (t - c.changed[class])
	}
	c.counted = 0
	clear(c.changed)
}
