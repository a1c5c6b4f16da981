package plots

import "fmt"

// The words that captions share.
const (
	afterLin = "After T.-C. Lin, \"Job Dispatching and Scheduling under Heterogeneous Clusters\" (Master's thesis, National Taiwan University, 2014), "

	contenderWords = "The policies plan workers for the jobs present whenever one is submitted or a task ends: priority, without reserve (r = 0); proportion, by work left; " +
		"workload, by work left over a horizon of 1 s; deadline, as many workers as finish a job by its deadline, the spare ones by priority or by deadline; earliest deadline first (EDF). " +
		"Work is known. Tasks in hand are not cut; those of a job run on one worker each. "

	plannedWords = "A job is violated while no worker is planned for it though one is for a job of lower priority; the rate is the part of the jobs present that are, averaged over time. " +
		"Asked of tasks in hand instead of the plan, jobs are violated too while they wait for tasks of lower priority to end. "

	penaltyWords = "The penalty is Σ_j P_jM_j, with P_j the priority of job j and M_j the seconds by which it misses its deadline. "
)

// words tells how samples are drawn.
func (s *tournament) words() string {
	p := s.sampling
	return fmt.Sprintf("A sample is %d consecutive of the %d jobs of the log from a random start (%s), the same for every policy: run times × %g, gaps between submissions × %g, submissions within %g s of the first together. "+
		"A job has a task on each of its processors, of the run time of the job; its deadline is %g × its run time after its submission, from %d tasks on × tasks/%d. Users have the priorities %g to %g, evenly, fewest jobs highest. ",
		p.Count, s.usable, s.seedWords(), p.TimeScale, p.GapScale, p.Batch, p.DeadlineFactor, p.Parallelism, p.Parallelism, p.LowestPriority, p.HighestPriority)
}

func (s *tournament) seedWords() string {
	return fmt.Sprintf("seeds %d to %d", s.seeds[0], s.seeds[len(s.seeds)-1])
}

// parameters are those of all figures with samples.
func (s *tournament) parameters() []Parameter {
	p := s.sampling
	return []Parameter{
		{"log", fmt.Sprintf("%s, %d usable jobs", logName, s.usable)},
		{"samples", fmt.Sprintf("%d of %d consecutive jobs, %s", len(s.seeds), p.Count, s.seedWords())},
		{"scales", fmt.Sprintf("run times × %g, gaps between submissions × %g; batches of %g s", p.TimeScale, p.GapScale, p.Batch)},
		{"deadlines", fmt.Sprintf("%g × run time × max(1, tasks/%d) after submission", p.DeadlineFactor, p.Parallelism)},
		{"priorities", fmt.Sprintf("%g to %g, evenly over users, fewest jobs in the sample highest", p.LowestPriority, p.HighestPriority)},
		{"policies", "priority (r = 0), proportion, workload (1 s), deadline with spare by priority and by deadline, EDF; all but EDF and the last of deadline give spare workers by priority"},
		{"work of tasks", "known to the policies"},
	}
}

// policyAxis is a horizontal axis on which each policy has a place.
func policyAxis() Axis {
	var names []string
	for _, c := range contenders() {
		names = append(names, c.label)
	}
	return Axis{Quantity: "policy", Min: 0.6, Max: float64(len(names)) + 0.75, Categories: names}
}

func rateAxis(planned bool) Axis {
	if planned {
		return Axis{Quantity: "violation rate by the plan"}
	}
	return Axis{Quantity: "violation rate by tasks in hand"}
}

func penaltyAxis(scale Scale) Axis {
	return Axis{Quantity: "penalty for missed deadlines", Unit: "priority × s", Scale: scale}
}
