package sim

import (
	"context"

	"productform/sweep"
)

// Run simulates a system; see [Plan.Run]. It also returns the errors of [NewPlan].
func Run(ctx context.Context, system System, s Settings, progress func(sweep.Progress)) (*Result, error) {
	p, err := NewPlan(ctx, system, s)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, progress)
}

// Run performs Settings.Runs replications or, with Settings.Precision, as many as are needed, up to
// Runs. progress, if not nil, is called after each. The result depends on the system and on the
// settings other than Workers and Folder, to the last digit.
//
// When ctx is done, Run returns its error, usually within a second (it may first simulate a million
// events, which takes longer if they are very slow). With Settings.Folder, the next run reuses the
// replications completed so far.
func (p *Plan) Run(ctx context.Context, progress func(sweep.Progress)) (*Result, error) {
	if p.settings.Precision > 0 {
		return p.runUntilPrecise(ctx, progress)
	}
	results, err := RunAll(ctx, []*Plan{p}, sweep.Settings{
		Workers:  p.settings.Workers,
		Folder:   p.settings.Folder,
		Progress: progress,
	})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// RunAll performs all replications of all plans as tasks of one sweep and returns the results in
// the order of the plans. The plans' own Workers and Folder are ignored. Replications that several
// plans share are simulated once.
func RunAll(ctx context.Context, plans []*Plan, s sweep.Settings) ([]*Result, error) {
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

// firstRuns is the number of replications after which the precision is first checked. It is checked
// again whenever their number has doubled, so the result does not depend on the number of cores.
const firstRuns = 10

func (p *Plan) runUntilPrecise(ctx context.Context, progress func(sweep.Progress)) (*Result, error) {
	var samples []*Sample
	var before sweep.Progress // progress at the end of the completed batches
	s := sweep.Settings{Workers: p.settings.Workers, Folder: p.settings.Folder}
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
