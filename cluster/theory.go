package cluster

// A Theory names the solver that a model needs.
type Theory string

// The theories.
const (
	BalancedFairness Theory = "balanced fairness" // jobs run on all their servers at once: package bf
	SingleServers    Theory = "single servers"    // jobs run on one server: package oneserver
	Impatience       Theory = "impatience"        // the same, and some jobs give up
	TimedJobs        Theory = "timed jobs"        // some jobs time out, under either service: package oiqueue
	SeveralServers   Theory = "several servers"   // jobs hold several servers at once: package gang
)

// Theory returns the theory of a valid model.
func (m *Model) Theory() Theory {
	switch {
	case m.service() == Gang:
		return SeveralServers
	case m.RequireNoTimeouts() != nil:
		return TimedJobs
	case m.RequireEndlessPatience("") != nil:
		return Impatience
	case m.service() == OneServer:
		return SingleServers
	}
	return BalancedFairness
}
