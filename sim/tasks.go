package sim

import (
	"context"

	"productform/sweep"
)

// Tasks returns the replications of all plans, in order and without duplicates, as the tasks of the
// sweep that [RunAll] runs. For a plan with Precision it returns the maximum number.
func Tasks(ctx context.Context, plans []*Plan) ([]sweep.Task[*Sample], error) {
	tasks, _, err := distinct(ctx, plans)
	return tasks, err
}

// distinct returns the replications of all plans without duplicates, and their indices for each
// plan.
func distinct(ctx context.Context, plans []*Plan) (tasks []sweep.Task[*Sample], places [][]int, err error) {
	known := make(map[string]int) // indices by key
	places = make([][]int, len(plans))
	for k, p := range plans {
		own, err := p.tasks(ctx, 0, p.settings.Runs)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range own {
			place, ok := known[t.Key]
			if !ok || t.Key == "" {
				place = len(tasks)
				known[t.Key] = place
				tasks = append(tasks, t)
			}
			places[k] = append(places[k], place)
		}
	}
	return tasks, places, nil
}

// Missing returns the tasks of [Tasks] whose samples are not in the folder; nil means that a run
// finds all samples that it needs. For a plan with Precision it returns the replications that
// [Plan.Run] would perform before its next check of the precision, since later ones depend on it.
func Missing(ctx context.Context, plans []*Plan, folder string) ([]sweep.Task[*Sample], error) {
	var missing []sweep.Task[*Sample]
	known := make(map[string]bool)
	for _, p := range plans {
		own, err := p.missing(ctx, folder)
		if err != nil {
			return nil, err
		}
		for _, t := range own {
			if !known[t.Key] || t.Key == "" {
				known[t.Key] = true
				missing = append(missing, t)
			}
		}
	}
	return missing, nil
}

// missing returns the replications that the plan needs next.
func (p *Plan) missing(ctx context.Context, folder string) ([]sweep.Task[*Sample], error) {
	want := p.settings.Runs
	if p.settings.Precision > 0 {
		want = min(firstRuns, want)
	}
	for ; ; want = min(2*want, p.settings.Runs) {
		tasks, err := p.tasks(ctx, 0, want)
		if err != nil {
			return nil, err
		}
		missing, err := sweep.Missing(ctx, tasks, folder)
		if err != nil || len(missing) > 0 || want == p.settings.Runs {
			return missing, err
		}
		samples, err := sweep.Run(ctx, tasks, sweep.Settings{Folder: folder}) // all are in the folder
		if err != nil {
			return nil, err
		}
		if r, err := p.result(ctx, samples); err != nil || r.PrecisionMet {
			return nil, err
		}
	}
}
