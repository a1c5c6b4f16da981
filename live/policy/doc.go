// Package policy makes a policy of one's own a service, which a manager of the live system asks before its own policy decides.
//
// At each moment at which something happens, and every few seconds, the manager sends a [wire.Question]: the jobs that can use a
// worker, the workers that are up, and what these say of their machines. The answer names a job for each worker. It has 0.2 s;
// where it does not come, or is no plan, the policy of the manager decides. What was answered is in the log of plans, so that
// neither a manager that takes over nor an audit asks again.
package policy
