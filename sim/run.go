package sim

import (
	"context"

	"productform/internal/input"
	"productform/sweep"
)

// Run simulates a system on all cores, without progress and without keeping samples: it is
// [NewPlan] and [Plan.Run] with the zero [sweep.Settings].
func Run(ctx context.Context, system System, s Settings) (*Result, error) {
	p, err := NewPlan(ctx, system, s)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, sweep.Settings{})
}

// Run performs Settings.Runs replications or, with Settings.Precision, as many as are needed, up to
// Runs. The sweep settings determine how many run at a time, where their samples are kept, and what
// is called after each; the result does not depend on them, to the last digit.
//
// When ctx is done, Run returns its error, usually within a second (it may first simulate a million
// events, which takes longer if they are very slow). With a folder, the next run reuses the
// replications completed so far. A folder is an error if the system has a function without a name
// for it, such as queue.Network.RatesKey.
func (p *Plan) Run(ctx context.Context, s sweep.Settings) (*Result, error) {
	if p.settings.Precision > 0 {
		return p.runUntilPrecise(ctx, s)
	}
	results, err := RunAll(ctx, []*Plan{p}, s)
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// RunAll performs all replications of all plans as tasks of one sweep and returns the results in
// the order of the plans. Replications that several plans share are simulated once. It returns the
// errors of [Plan.Run], and one for a plan with Precision, which its replications in this sweep
// could not stop.
func RunAll(ctx context.Context, plans []*Plan, s sweep.Settings) ([]*Result, error) {
	for k, p := range plans {
		if p.settings.Precision > 0 {
			return nil, input.Errorf(input.Index("plans", k)+".Precision", p.settings.Precision,
				"0: all replications of several plans are simulated")
		}
		if err := p.checkFolder(s.Folder); err != nil {
			return nil, err
		}
	}
	tasks, places, err := distinct(ctx, plans)
	if err != nil {
		return nil, err
	}
	samples, err := sweep.Run(ctx, tasks, s)
	if err != nil {
		return nil, err
	}
	results := make([]*Result, len(plans))
	for k, p := range plans {
		var own []*Sample
		for _, place := range places[k] {
			own = append(own, samples[place])
		}
		if results[k], err = p.result(ctx, own); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// checkFolder rejects a folder for samples of a system that has a function without a name.
func (p *Plan) checkFolder(folder string) error {
	if p.Unnamed == "" || folder == "" {
		return nil
	}
	return input.Errorf(p.Unnamed, "", "a name for the function, under which Folder = %s stores samples", folder)
}

// firstRuns is the number of replications after which the precision is first checked. It is checked
// again whenever their number has doubled, so the result does not depend on the number of cores.
const firstRuns = 10

func (p *Plan) runUntilPrecise(ctx context.Context, s sweep.Settings) (*Result, error) {
	if err := p.checkFolder(s.Folder); err != nil {
		return nil, err
	}
	var samples []*Sample
	var before sweep.Progress // progress at the end of the completed batches
	progress := s.Progress
	for want := min(firstRuns, p.settings.Runs); ; want = min(2*want, p.settings.Runs) {
		tasks, err := p.tasks(ctx, len(samples), want)
		if err != nil {
			return nil, err
		}
		last := before
		s.Progress = func(now sweep.Progress) {
			last = now
			last.Done, last.Reused, last.Total = before.Done+now.Done, before.Reused+now.Reused, before.Total+now.Total
			last.Elapsed += before.Elapsed
			if progress != nil {
				progress(last)
			}
		}
		more, err := sweep.Run(ctx, tasks, s)
		if err != nil {
			return nil, err
		}
		before = last
		samples = append(samples, more...)
		r, err := p.result(ctx, samples)
		if err != nil || r.PrecisionMet || want == p.settings.Runs {
			return r, err
		}
	}
}
