// Command policies asks which dispatch policy an administrator should choose for a real month of
// jobs on 400 processors, if half of them are three times as fast as the others, and what a power
// cut does to each policy.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"text/tabwriter"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/traces"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// choices are the policies under comparison.
func choices() []dispatch.Policy {
	return []dispatch.Policy{
		{Rule: dispatch.Priority}, {Rule: dispatch.Proportion}, {Rule: dispatch.Workload}, {Rule: dispatch.Deadline},
		{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline}, {Rule: dispatch.EDF},
	}
}

// month returns 2700 consecutive jobs of the log, about a month.
func month() ([]dispatch.Job, error) {
	f, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	year, err := swf.ReadAll(f, "SDSC-Par-1996")
	if err != nil {
		return nil, err
	}
	s := dispatch.WholeLog()
	s.Count = 2700
	jobs, _, err := s.Jobs(year.Jobs, 5)
	return jobs, err
}

func run(w io.Writer) error {
	jobs, err := month()
	if err != nil {
		return err
	}
	equal, mixed := make([]float64, 400), make([]float64, 400)
	for i := range equal {
		equal[i], mixed[i] = 1, 0.5
		if i%2 == 0 {
			mixed[i] = 1.5
		}
	}
	const day = 24 * 3600
	var cut []dispatch.Outage // two hundred processors fail during the tenth day
	for i := range 200 {
		cut = append(cut, dispatch.Outage{Worker: i, From: 9 * day, To: 10 * day})
	}
	for k, c := range []struct {
		title   string
		speeds  []float64
		outages []dispatch.Outage
	}{
		{"400 equal processors", equal, nil},
		{"200 fast and 200 slow processors", mixed, nil},
		{"200 fast and 200 slow processors, half of them without power for a day", mixed, cut},
	} {
		if k > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s:\n", c.title)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "policy\tspare for\tmissed\tpriority 50+\tpenalty\tmean response\t95 %\tviolated")
		for _, p := range choices() {
			r, err := dispatch.Run(context.Background(), dispatch.Scenario{
				Jobs:    jobs,
				Speeds:  c.speeds,
				Policy:  p,
				Outages: c.outages,
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(t, "%s\t%s\t%.1f %%\t%.1f %%\t%.3g\t%.2f h\t%.1f h\t%.1f %%\n", p.Rule, p.Spare,
				percentMissed(r, jobs, 0), percentMissed(r, jobs, 50), r.DeadlineMissPenalty, r.Delay.Mean/3600,
				r.Delay.P95/3600, 100*r.RunningViolationRate)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// percentMissed returns the percentage of the jobs with at least a given priority that missed their
// deadlines.
func percentMissed(r *dispatch.Result, jobs []dispatch.Job, priority float64) float64 {
	missed, all := 0, 0
	for i, j := range jobs {
		if j.Priority >= priority {
			all++
			if r.Jobs[i].Missed > 0 {
				missed++
			}
		}
	}
	return 100 * float64(missed) / float64(all)
}
