package dispatch_test

import (
	"context"
	"fmt"

	"productform/dispatch"
)

// fiveSpeeds are the speeds of seven workers: a task of work 2 takes 2 seconds on each of the first
// four, and 1 on each of the others.
var fiveSpeeds = []float64{1, 1, 1, 1, 2, 2, 2}

// fiveJobs are jobs A to E, all submitted at time 0.
var fiveJobs = []dispatch.Job{
	{Priority: 5, Deadline: 9, Tasks: 4, Work: 2}, // A
	{Priority: 4, Deadline: 6, Tasks: 2, Work: 2}, // B
	{Priority: 3, Deadline: 7, Tasks: 5, Work: 2}, // C
	{Priority: 2, Deadline: 8, Tasks: 4, Work: 2}, // D
	{Priority: 1, Deadline: 3, Tasks: 3, Work: 2}, // E
}

// Five jobs, A to E from highest to lowest priority, share seven workers, the first four of speed
// 1, the others of speed 2. All tasks have work 2.
//
//	job       A  B   C  D  E
//	priority  5  4   3  2  1
//	deadline  9  6   7  8  3
//	tasks     4  2   5  4  3
//	work      8  4  10  8  6  total: 36
//
// The plans at time 0, one letter per worker:
//
//   - priority: A may have all 7 workers and takes 4, one per task. B, C and D get one each, and
//     none is left for E.
//   - priority, r = 1/2: A may have 7 - ⌈7/2⌉ = 3. All others get one each, and none is left.
//   - proportion: ⌈7·8/36⌉ = 2 for A, ⌈7·4/36⌉ = 1 for B, ⌈7·10/36⌉ = 2 for C, ⌈7·8/36⌉ = 2 for D.
//     E would have ⌈7·6/36⌉ = 2, but none is left.
//   - workload, to be done in 3 seconds: A needs speed 8/3, two of the fast workers. B needs 4/3,
//     the last fast one. C needs 10/3, the four others.
//   - deadline: A needs speed 8/9, B 4/6, C 10/7, one of the fast workers each. D needs 8/8, one of
//     the others. E needs 6/3, two of them. The spare worker goes to A by priority, to E by
//     deadline, or is kept.
//   - edf: E has the earliest deadline and takes 3, B the next and takes 2, C gets the 2 that are
//     left of its 5.
//
// A run makes new plans as tasks finish. Then earliest deadline first meets all deadlines; but
// until time 2, half of the run, no worker serves A and D, 2 of 5 jobs present, although C and E
// are served. The deadline policy with spare workers by deadline also meets all deadlines, without
// such violations.
func ExamplePolicy() {
	requests := make([]dispatch.Request, len(fiveJobs))
	for i, j := range fiveJobs {
		requests[i] = dispatch.Request{
			Priority: j.Priority,
			Deadline: j.Deadline,
			Tasks:    j.Tasks,
			Work:     float64(j.Tasks) * j.Work,
		}
	}
	fmt.Println("                             done at time")
	fmt.Println("                    plan     A B C D E  violation  penalty")
	for _, c := range []struct {
		name   string
		policy dispatch.Policy
	}{
		{"priority", dispatch.Policy{Rule: dispatch.Priority}},
		{"priority, r = 1/2", dispatch.Policy{Rule: dispatch.Priority, Reserve: 0.5}},
		{"proportion", dispatch.Policy{Rule: dispatch.Proportion}},
		{"workload", dispatch.Policy{Rule: dispatch.Workload, Horizon: 3}},
		{"deadline, priority", dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByPriority}},
		{"deadline, deadline", dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline}},
		{"deadline, kept", dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept}},
		{"edf", dispatch.Policy{Rule: dispatch.EDF}},
	} {
		plan, err := c.policy.Assign(requests, fiveSpeeds, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := dispatch.Run(context.Background(), dispatch.Scenario{
			Jobs:   fiveJobs,
			Speeds: fiveSpeeds,
			Policy: c.policy,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-18s  %s ", c.name, letters(plan))
		for _, j := range r.Jobs {
			fmt.Printf(" %g", j.Finish)
		}
		fmt.Printf("  %9.1f  %7g\n", r.PriorityViolationRate, r.DeadlineMissPenalty)
	}
	// Output:
	//                              done at time
	//                     plan     A B C D E  violation  penalty
	// priority            AAAABCD  2 2 4 4 4        0.0        1
	// priority, r = 1/2   AAABCDE  4 4 4 4 3        0.0        0
	// proportion          AABCCDD  4 4 4 3 4        0.0        1
	// workload            CCCCAAB  3 2 3 4 4        0.0        1
	// deadline, priority  DEEAABC  4 2 4 4 4        0.0        1
	// deadline, deadline  DEEEABC  4 2 4 4 2        0.0        0
	// deadline, kept      DEE.ABC  4 2 5 5 4        0.0        1
	// edf                 EEEBBCC  4 2 2 4 2        0.2        0
}

// letters writes the job of each worker as a letter, or a dot if it has none.
func letters(plan []int) string {
	text := make([]byte, len(plan))
	for s, j := range plan {
		text[s] = '.'
		if j >= 0 {
			text[s] = 'A' + byte(j)
		}
	}
	return string(text)
}
