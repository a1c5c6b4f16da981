package dispatch

import (
	"math/rand/v2"

	"productform/internal/input"
	"productform/sizes"
)

// A Synthetic specifies random jobs without a log: independent gaps between submissions, work,
// numbers of tasks, and users.
type Synthetic struct {
	Jobs  int                // number of jobs, >= 1
	Gaps  sizes.Distribution // seconds from one submission to the next; the first is at 0
	Work  sizes.Distribution // work of each task, one draw per job: seconds on a worker of speed 1
	Tasks []int              // numbers of tasks in [1, 10^9]; each entry of the list is equally likely
	Users int                // >= 1; each job belongs to a user, all equally likely

	// DeadlineFactor, Parallelism and the priorities are as in [Sampling].
	DeadlineFactor                  float64
	Parallelism                     int
	LowestPriority, HighestPriority float64
}

// Draw returns jobs in order of submission, with IDs 1, 2 and so on. The same seed gives the same
// jobs. Gaps, work, tasks and users have separate streams of random numbers: changing one leaves
// the draws of the others unchanged, and increasing the number of jobs changes only the priorities
// of the first ones. The error is a [num.InputError]. It is also returned if a drawn time or work
// is outside [1e-50, 1e50].
func (s Synthetic) Draw(seed uint64) ([]Job, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	gaps, work := rand.New(rand.NewPCG(seed, streamGaps)), rand.New(rand.NewPCG(seed, streamWork))
	tasks, users := rand.New(rand.NewPCG(seed, streamTasks)), rand.New(rand.NewPCG(seed, streamUsers))
	jobs, user := make([]Job, s.Jobs), make([]int64, s.Jobs)
	var now float64
	for i := range jobs {
		if i > 0 {
			now += s.Gaps.Sample(gaps)
		}
		j := &jobs[i]
		j.ID, j.Submit = int64(i)+1, now
		j.Tasks, j.Work = s.Tasks[tasks.IntN(len(s.Tasks))], s.Work.Sample(work)
		user[i] = int64(users.IntN(s.Users))
		switch {
		case !input.IsTime(now):
			return nil, input.Errorf("Gaps", s.Gaps, "a distribution that submits all %d jobs by 1e50", s.Jobs)
		case !input.IsWork(j.Work):
			return nil, input.Errorf("Work", s.Work, "a distribution whose draws are in [1e-50, 1e50]")
		}
	}
	if err := s.demands().apply(jobs, user); err != nil {
		return nil, err
	}
	return jobs, nil
}

func (s Synthetic) check() error {
	switch {
	case s.Jobs < 1:
		return input.Errorf("Jobs", s.Jobs, "an integer >= 1")
	case s.Gaps == nil:
		return input.Errorf("Gaps", "", "a distribution")
	case s.Work == nil:
		return input.Errorf("Work", "", "a distribution")
	case len(s.Tasks) == 0:
		return input.Errorf("Tasks", "", "at least one number of tasks")
	case s.Users < 1:
		return input.Errorf("Users", s.Users, "an integer >= 1")
	}
	for i, n := range s.Tasks {
		if n < 1 || n > input.MostTasks {
			return input.Errorf(input.Index("Tasks", i), n, "an integer in [1, %d]", input.MostTasks)
		}
	}
	return s.demands().check()
}

func (s Synthetic) demands() demands {
	return demands{s.DeadlineFactor, s.Parallelism, s.LowestPriority, s.HighestPriority}
}
