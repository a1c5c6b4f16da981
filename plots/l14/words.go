package l14

import (
	"fmt"

	"productform/plots"
)

// The words that captions share. What is the same in all figures with samples stands in their parameters.
const (
	afterLin = "After T.-C. Lin, \"Job Dispatching and Scheduling under Heterogeneous Clusters\" (Master's thesis, National Taiwan University, 2014), "

	contenderWords = "Deadline plans for each job, in order of priority, as many workers as finish it by its deadline, and gives spare ones by priority or by deadline; EDF is earliest deadline first. "

	plannedWords = "A job is violated while no worker is planned for it, or no task of it in hand, though one is for a job of lower priority; the rate is the part of the jobs present that are, averaged over time. "

	penaltyWords = "The penalty is Σ_j P_jM_j, with P_j the priority of job j and M_j the seconds by which it misses its deadline. "
)

// words tells what samples are.
func (s *tournament) words() string {
	p := s.sampling
	return fmt.Sprintf("A sample is %d consecutive jobs of the log %s (Parallel Workloads Archive; thanks to Reagan Moore and Allen Downey), from a random start (%s), the same for every policy, with run times × %g, gaps between submissions × %g and priorities %g to %g. ",
		p.Count, plots.LogName, s.seedWords(), p.TimeScale, p.GapScale, p.LowestPriority, p.HighestPriority)
}

func (s *tournament) seedWords() string {
	return fmt.Sprintf("seeds %d to %d", s.seeds[0], s.seeds[len(s.seeds)-1])
}

// parameters are those of all figures with samples.
func (s *tournament) parameters() []plots.Parameter {
	p := s.sampling
	return []plots.Parameter{
		{Name: "log", Value: fmt.Sprintf("%d usable jobs. %s", s.usable, plots.LogWords)},
		{Name: "samples", Value: fmt.Sprintf("%d of %d consecutive jobs from a random start, %s; the same for every policy", len(s.seeds), p.Count, s.seedWords())},
		{Name: "scales", Value: fmt.Sprintf("run times × %g, gaps between submissions × %g; then submissions within %g s of the first together", p.TimeScale, p.GapScale, p.Batch)},
		{Name: "tasks", Value: "of a job one on each of its processors, of the run time of the job; of work known to the policies; on one worker each, not cut once in hand"},
		{Name: "deadlines", Value: fmt.Sprintf("%g × run time × max(1, tasks/%d) after submission", p.DeadlineFactor, p.Parallelism)},
		{Name: "priorities", Value: fmt.Sprintf("%g to %g, evenly over users, fewest jobs in the sample highest", p.LowestPriority, p.HighestPriority)},
		{Name: "policies", Value: "priority, without reserve (r = 0); proportion, by work left; workload, by work left over a horizon of 1 s; deadline, as many workers as finish a job by its deadline; earliest deadline first (EDF). " +
			"They plan workers for the jobs present whenever one is submitted or a task ends. Spare workers go by priority, but by deadline under the second of deadline and under EDF"},
	}
}

// policyAxis is a horizontal axis on which each policy has a place.
func policyAxis() plots.Axis {
	var names []string
	for _, c := range contenders() {
		names = append(names, c.label)
	}
	return plots.Axis{Quantity: "policy", Min: 0.6, Max: float64(len(names)) + 0.75, Categories: names}
}

func rateAxis(planned bool) plots.Axis {
	if planned {
		return plots.Axis{Quantity: "violation rate by the plan"}
	}
	return plots.Axis{Quantity: "violation rate by tasks in hand"}
}

func penaltyAxis(scale plots.Scale) plots.Axis {
	return plots.Axis{Quantity: "penalty for missed deadlines", Unit: "priority × s", Scale: scale}
}
