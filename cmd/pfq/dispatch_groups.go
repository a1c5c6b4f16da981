package main

import (
	"cmp"
	"slices"

	"productform/dispatch"
	"productform/internal/cli"
	"productform/internal/render"
)

// maxGroups is the maximum number of groups that text shows.
const maxGroups = 20

// A jobGroup holds the jobs with the same value of the field of --by.
type jobGroup struct {
	name string // "" if unknown
	jobs []int  // indices, in order
	work float64
}

// groupList returns the name of the list of groups in JSON.
func (f *dispatchFlags) groupList() string { return f.By + "s" }

// jobGroups returns the groups of the jobs by the field of --by, those with the most jobs first.
func (a *dispatchAnswer) jobGroups() (groups []jobGroup) {
	if a.flags.By == "" {
		return nil
	}
	at := map[string]int{}
	for i, name := range a.Names[slices.Index(cli.NameFields(), a.flags.By)].Texts {
		k, ok := at[name]
		if !ok {
			k = len(groups)
			at[name] = k
			groups = append(groups, jobGroup{name: name})
		}
		j := &a.List[i]
		groups[k].jobs = append(groups[k].jobs, i)
		groups[k].work += float64(j.Tasks) * j.Work
	}
	slices.SortStableFunc(groups, func(g, h jobGroup) int {
		return cmp.Or(cmp.Compare(len(h.jobs), len(g.jobs)), cmp.Compare(g.name, h.name))
	})
	return groups
}

// A groupRow is the outcome of the jobs of a group.
type groupRow struct {
	Jobs      int           `json:"job_count" title:"jobs"`
	WorkShare *float64      `json:"work_share"` // nil if no job has work
	Waiting   render.Record `json:"waiting" unit:"s"`
	Slowdown  render.Record `json:"slowdown" unit:"-"`
	Delay     render.Record `json:"delay" unit:"s"`
	Missed    int           `json:"missed" unit:"jobs"`
	Part      float64       `json:"missed_part" unit:"of jobs"`
}

// groupRows returns the outcome of each group under a policy.
func (a *dispatchAnswer) groupRows(r policyRun) []render.Record {
	total := 0.0
	for _, g := range a.groups {
		total += g.work
	}
	record := func(i int) *dispatch.Record { return &r.result.Jobs[i] }
	if r.rigid != nil {
		record = func(i int) *dispatch.Record { return &r.rigid.Jobs[i].Record }
	}
	rows := []render.Record{}
	for _, g := range a.groups {
		var waits, slowdowns, delays []float64
		row := groupRow{Jobs: len(g.jobs), WorkShare: numberIf(total > 0, g.work/total)}
		for _, i := range g.jobs {
			rec := record(i)
			waits, delays = append(waits, rec.Start-a.List[i].Submit), append(delays, rec.Delay)
			if rec.Slowdown > 0 { // the job has work
				slowdowns = append(slowdowns, rec.Slowdown)
			}
			if rec.Missed > 0 {
				row.Missed++
			}
		}
		row.Part = float64(row.Missed) / float64(row.Jobs)
		spread := func(values []float64) render.Record {
			s := dispatch.SpreadOf(values)
			slices.Sort(values)
			return a.flags.spread(s, values)
		}
		row.Waiting, row.Slowdown, row.Delay = spread(waits), spread(slowdowns), spread(delays)
		var name any
		if g.name != "" {
			name = g.name
		}
		rows = append(rows, append(render.Record{{Key: a.flags.By, Value: name}}, render.Fields(row)...))
	}
	return rows
}

// writeGroups writes a table per policy with a row per group.
func (a *dispatchAnswer) writeGroups(t *render.Text, rows []render.Record) {
	f := a.flags
	for _, r := range rows {
		groups, ok := r.Get(f.groupList()).([]render.Record)
		if !ok {
			continue
		}
		t.Line("policy %s by %s, most jobs first", r.Get("policy"), f.By)
		var flat []render.Record
		for _, g := range groups[:min(maxGroups, len(groups))] {
			flat = append(flat, g.Flat())
		}
		columns := slices.Concat([]string{f.By, "job_count", "work_share", "waiting_mean"}, f.waitColumns(),
			[]string{"slowdown_mean", "missed", "missed_part"})
		if f.showsAll() {
			for _, of := range flat[0] {
				if !slices.Contains(columns, of.Key) {
					columns = append(columns, of.Key)
				}
			}
		}
		t.Wide(flat, columns...)
		if left := len(groups) - maxGroups; left > 0 {
			t.Line("and %d more; JSON and CSV have all", left)
			t.Line("")
		}
	}
}
