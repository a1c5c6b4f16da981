package allocate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/fluid/audit"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
)

// An allocation is the answer for jobs that stay.
type allocation struct {
	*fluid.Allocation
	style   render.Style
	digits  int           // of numbers in text, one more than are shown
	audit   *audited      // nil unless asked for
	indices render.Record // with an audit: how efficient and how fair it is
}

// allocate shares the resources among jobs that stay.
func (f *allocateFlags) allocate(ctx context.Context, p *fluid.Pool, policy fluid.Policy) (*allocation, error) {
	r, err := fluid.Allocate(ctx, p, policy, f.sharing)
	if err != nil {
		return nil, err
	}
	a := &allocation{Allocation: r, style: render.Style{Engine: r.Engine, Digits: command.Digits(cmp.Or(f.sharing.RelTol, 1e-9))}}
	a.digits = a.style.Digits
	if f.sharing.RelTol == 0 {
		a.digits = 6
	}
	if f.audit {
		err = a.addAudit(ctx, p)
	}
	return a, err
}

// answer returns the answer, with a line of CSV for each job, each resource and the pool.
func (a *allocation) answer() *answered {
	body := a.style.Record(a.Allocation)
	for j, row := range body.Get("resources").([]render.Record) {
		u := row.Get("utilization").(render.Number)
		u.BelowOne = !a.Resources[j].Saturated
		row.Set("utilization", u, "")
	}
	jobs := render.Section{Kind: "job", Of: "jobs", Columns: "name tasks dominant_share dominant_resource"}
	if a.Jobs[0].Count > 0 {
		jobs.Columns = "name count tasks_of_each tasks_in_all dominant_share_of_each dominant_resource"
		jobs.Rows = a.ofEach
	}
	pool := body
	if a.audit != nil {
		pool = slices.Concat(body, a.audit.Record, a.indices)
		body = body.Set("audit", a.audit.Record, "").Set("indices", a.indices, "")
	}
	point := render.Point{Body: body, Sections: []render.Section{jobs,
		{Kind: "resource", Of: "resources", Columns: "name utilization saturated price?"}}}
	all := render.Points([]render.Point{point}, false, nil, func(t *render.Text) {
		t.Digits, t.Fraction = a.digits, mostFraction
		t.Line("%s; %s engine, %s", a.Policy.Words(), a.Engine, a.accuracy())
	})
	all.Lines = append(all.Lines, render.Lines{Kind: "pool", Of: pool})
	if tables := all.Text; a.audit != nil {
		all.Text = func(t *render.Text) {
			tables(t)
			t.Digits = 6
			a.auditText(t)
		}
	}
	accuracy := fmt.Sprintf("%s engine, %s", a.Engine, a.accuracy())
	return &answered{Answer: all, body: body, accuracy: accuracy, digits: a.digits}
}

// ofEach returns the rows of jobs as text shows them where some rows have several jobs.
func (a *allocation) ofEach(rows []render.Record) []render.Record {
	rows = slices.Clone(rows)
	for i, r := range rows {
		job := a.Jobs[i]
		all := job.Tasks.Times(big.NewRat(int64(job.Count), 1))
		rows[i] = slices.Concat(r, render.Record{
			{Key: "tasks_of_each", Value: r.Get("tasks")},
			{Key: "tasks_in_all", Value: a.style.Computed(&all)},
			{Key: "dominant_share_of_each", Value: r.Get("dominant_share")},
		})
	}
	return rows
}

// auditText writes the audit and the indices.
func (a *allocation) auditText(t *render.Text) {
	var lines [][]string
	for k, words := range a.audit.words(t) {
		lines = append(lines, []string{properties[k], words})
	}
	t.Columns(lines)
	t.Line("")
	lines = nil
	for _, f := range a.indices {
		lines = append(lines, []string{strings.ReplaceAll(f.Key, "_", " "), t.Cell(f.Value)})
	}
	t.Columns(lines)
}

// mostFraction is the number of digits of numerators and denominators up to which fractions are shown.
const mostFraction = 6

// accuracy says how the numbers were computed and are shown.
func (a *allocation) accuracy() string {
	switch bound := a.RelativeErrorBound; {
	case bound == nil:
		return "without proof, residual " + render.OneDigitUp(a.Residual) + ", shown to six digits"
	case a.Engine == num.Exact:
		return "computed exactly, shown as short fractions and to six digits"
	case a.digits > 7:
		return fmt.Sprintf("within %s of exact (relative), shown to %d digits", render.OneDigitUp(*bound), a.digits-1)
	default:
		return fmt.Sprintf("within %s of exact (relative), shown to six digits", render.OneDigitUp(*bound))
	}
}

// An audited says what an allocation has, with witnesses of what it has not.
type audited struct {
	render.Record        // the fields of JSON
	declared      string // what the job declares that gains most by a lie
	unsearched    string // why no lie was looked for, "" if lies were or need not be
}

// addAudit audits the allocation, with a tolerance that its errors do not reach.
func (a *allocation) addAudit(ctx context.Context, p *fluid.Pool) error {
	tasks, tolerance := a.TaskFractions(), a.Tolerance()
	report, err := audit.Audit(ctx, p, tasks, tolerance)
	if err != nil {
		return err
	}
	x, err := audit.Indices(ctx, p, tasks)
	if err != nil {
		return err
	}
	tol, _ := tolerance.Float64()
	record := slices.Concat(render.Record{
		{Key: "tolerance", Value: tol},
		{Key: "feasible", Value: report.Overload == nil && report.OverLimit == nil},
		{Key: "pareto_efficient", Value: report.Growth == nil},
		{Key: "sharing_incentive", Value: report.Shortfall == nil},
		{Key: "envy_free", Value: report.Envy == nil},
		{Key: "lie_proof"}, // null if no lie was found, or none looked for
	}, a.style.Record(report)).Set("lie", nil, "over_limit").Set("lies_tried", 0, "over_limit")
	for _, f := range record {
		witness, _ := f.Value.(render.Record)
		for k, g := range witness {
			switch row, _ := g.Value.(int); g.Key {
			case "job", "other":
				witness[k].Value = p.Jobs[row].Name
			case "resource":
				witness[k].Value = p.Resources[row].Name
			}
		}
	}
	if !slices.ContainsFunc(p.Jobs, isLimited) {
		record = record[:len(record)-1] // over_limit
	}
	a.audit = &audited{Record: record}
	a.indices = render.Fields(x)
	if x.MeanUtilization.Exact != nil && a.Engine == num.Exact { // not of rounded tasks, nor too long
		a.indices = a.style.Record(x)
	}
	return a.addLie(ctx, p)
}

func isLimited(j fluid.Job) bool { return j.MaxTasks != nil }

// Allocations that the search for a lie computes, times their rows and resources, in all; and the fewest
// allocations for one row with which a search is worth while.
const (
	lieWork  = 2_000_000
	fewTries = 200
)

// addLie looks for the lie that gains most, of one job of any row. Under [fluid.DRF] and [fluid.BF] none does.
func (a *allocation) addLie(ctx context.Context, p *fluid.Pool) error {
	rows := len(p.Jobs)
	tries := min(5000, lieWork/(rows*rows*len(p.Resources)))
	switch {
	case slices.ContainsFunc(p.Jobs, isLimited):
		a.audit.unsearched = "some job has max_tasks"
		return nil
	case a.Policy == fluid.DRF || a.Policy == fluid.BF:
		a.audit.Set("lie_proof", true, "")
		return nil
	case tries < fewTries:
		a.audit.unsearched = "there are too many jobs"
		return nil
	}
	var best *audit.Lie
	at, tried := 0, 0
	for i := range p.Jobs {
		lie, err := audit.BestLie(ctx, p, a.Policy, i, audit.LieSettings{Evaluations: tries})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // numbers that double precision does not hold
			a.audit.unsearched = cli.OneLine(err)
			return nil
		}
		tried += lie.Evaluations
		a.audit.Set("lies_tried", tried, "")
		if lie.Declared != nil && (best == nil || lie.Gain.Float > best.Gain.Float) {
			best, at = lie, i
		}
	}
	if best == nil {
		return nil
	}
	var declared render.Record // the resources of which it is more than the demand
	var words []string
	for j, d := range best.Declared {
		if need, name := p.Jobs[at].Demand.Of(j), p.Resources[j].Name; d.Cmp(need) > 0 {
			declared = append(declared, render.Field{Key: name, Value: render.Rat(d, render.Unproved)})
			words = append(words, fmt.Sprintf("%s %s for %s", name, render.SixRat(d), render.SixRat(need)))
		}
	}
	a.audit.declared = strings.Join(words, ", ")
	style := render.Style{Engine: a.Engine, Digits: a.digits}
	a.audit.Set("lie_proof", false, "").Set("lie", render.Record{
		{Key: "job", Value: p.Jobs[at].Name},
		{Key: "declared", Value: declared},
		{Key: "tasks", Value: style.Computed(&best.Truthful)},
		{Key: "with_lie", Value: style.Computed(&best.Tasks)},
	}, "")
	return nil
}

// properties are those that an audit looks at.
var properties = []string{"feasible", "Pareto efficient", "sharing incentive", "envy-free", "lie-proof"}

// words says which of the properties the allocation has, and why not.
func (a *audited) words(t *render.Text) []string {
	words := []string{"yes", "yes", "yes", "yes", fmt.Sprintf("no lie found among %d", a.Get("lies_tried"))}
	switch lie, isLie := a.Get("lie").(render.Record); {
	case isLie:
		words[4] = fmt.Sprintf("no: a job of %s that declares %s runs %s tasks in place of %s", lie.Get("job"),
			a.declared, t.Cell(lie.Get("with_lie")), t.Cell(lie.Get("tasks")))
	case a.Get("lie_proof") != nil:
		words[4] = "yes"
	case a.unsearched != "":
		words[4] = "not looked at: " + a.unsearched
	}
	for _, w := range []struct {
		property      int
		witness, says string // of the fields of the witness
	}{
		{0, "over_limit", "a job of %s runs %s tasks, and can run %s"},
		{0, "overload", "the utilization of %s is %s"},
		{1, "growth", "a job of %s could run %s tasks more"},
		{2, "shortfall", "a job of %s has a dominant share of %s, below its part by weight, %s"},
		{3, "envy", "a job of %s runs %[3]s tasks, and would run %[4]s with what one of %[2]s holds"},
	} {
		witness, found := a.Get(w.witness).(render.Record)
		if !found {
			continue
		}
		var cells []any
		for _, f := range witness {
			cells = append(cells, t.Cell(f.Value))
		}
		words[w.property] = "no: " + fmt.Sprintf(w.says, cells...)
	}
	return words
}

// An answered is the answer of one policy, or why there is none.
type answered struct {
	render.Answer
	policy   fluid.Policy
	body     render.Record // the fields of JSON
	accuracy string        // how its numbers were computed
	digits   int           // of them in text
	refused  string        // why there is none, "" if there is
}

// compare answers for each policy, and writes the answers as one. A policy that does not take the input is
// refused; if all are, that is the error.
func (f *allocateFlags) compare(q command.Query, answer func(command.Query, fluid.Policy) (*answered, error),
	text func(*render.Text, []*answered)) (all render.Answer, err error) {
	var answers []*answered
	var list []render.Record
	policies := f.policies.List()
	all.Columns = []string{"policy", "kind"}
	refused := 0
	for i, policy := range policies {
		a, failed := answer(q.Part(i, len(policies)), policy)
		head := render.Record{{Key: "policy", Value: string(policy)}}
		var bad *input.Error
		switch {
		case failed == nil:
			for _, l := range a.Lines {
				all.Lines = append(all.Lines, render.Lines{Kind: l.Kind, Head: head, Of: l.Of})
			}
		case q.Ctx.Err() == nil && errors.As(failed, &bad):
			err = cmp.Or(err, failed)
			refused++
			a = &answered{refused: cli.OneLine(f.translate(failed))}
			a.body = append(head, render.Field{Key: "refused", Value: a.refused})
			all.Lines = append(all.Lines, render.Lines{Kind: "pool", Of: a.body})
		default:
			return render.Answer{}, failed
		}
		a.policy = policy
		answers, list = append(answers, a), append(list, a.body)
	}
	if refused == len(policies) {
		return render.Answer{}, err
	}
	all.JSON = render.Record{{Key: "policies", Value: list}}
	all.Text = func(t *render.Text) { text(t, answers) }
	return all, nil
}

// tableOf writes a table of one field of rows with names, which have a column for each policy.
func tableOf(t *render.Text, all []*answered, title, first, key string, of func(*answered) []render.Record) {
	var rows []render.Record
	columns := []string{"name"}
	for _, a := range all {
		if a.refused != "" {
			continue
		}
		columns = append(columns, string(a.policy))
		for i, r := range of(a) {
			if i == len(rows) {
				rows = append(rows, render.Record{{Key: "name", Value: r.Get("name"), Title: first}})
			}
			rows[i] = append(rows[i], render.Field{Key: string(a.policy), Value: r.Get(key)})
		}
	}
	t.Line("%s", title)
	t.Table(rows, columns...)
}

// rowsOf returns the rows of a list in an answer.
func rowsOf(list string) func(*answered) []render.Record {
	return func(a *answered) []render.Record { return a.body.Get(list).([]render.Record) }
}

// headings writes a line for each policy.
func headings(t *render.Text, all []*answered) {
	var lines [][]string
	for _, a := range all {
		what := cmp.Or(a.accuracy, "no answer: "+a.refused)
		lines = append(lines, []string{string(a.policy), a.policy.Words() + "; " + what})
	}
	t.Columns(lines)
	t.Line("")
}

// allocationsText compares allocations.
func allocationsText(t *render.Text, all []*answered) {
	headings(t, all)
	t.Digits, t.Fraction = 6, mostFraction
	for _, a := range all {
		t.Digits = max(t.Digits, a.digits)
	}
	tableOf(t, all, "tasks of one job", "job", "tasks", rowsOf("jobs"))
	tableOf(t, all, "dominant share of one job", "job", "dominant_share", rowsOf("jobs"))
	tableOf(t, all, "utilization", "resource", "utilization", rowsOf("resources"))
	if !slices.ContainsFunc(all, func(a *answered) bool { return a.body.Get("audit") != nil }) {
		return
	}
	t.Digits = 6
	tableOf(t, all, "properties", "property", "has", func(a *answered) (rows []render.Record) {
		audit := a.body.Get("audit").(render.Record)
		for k, key := range []string{"feasible", "pareto_efficient", "sharing_incentive", "envy_free", "lie_proof"} {
			has := audit.Get(key)
			if has == nil {
				has = "unknown"
			}
			rows = append(rows, render.Record{{Key: "name", Value: properties[k]}, {Key: "has", Value: has}})
		}
		return rows
	})
	tableOf(t, all, "efficiency and fairness", "index", "is", func(a *answered) (rows []render.Record) {
		for _, f := range a.body.Get("indices").(render.Record) {
			name := strings.ReplaceAll(f.Key, "_", " ")
			rows = append(rows, render.Record{{Key: "name", Value: name}, {Key: "is", Value: f.Value}})
		}
		return rows
	})
}
