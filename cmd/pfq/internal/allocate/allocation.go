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
	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
)

// An allocation is the answer for jobs that stay.
type allocation struct {
	allocationHead
	Jobs      []jobShare      `json:"jobs"`
	Resources []resourceShare `json:"resources"`
	allocationTrust
	Audit   *auditAnswer `json:"audit,omitempty"`
	Indices *indexAnswer `json:"indices,omitempty"`

	digits int // of numbers in text, one more than are shown
}

type allocationHead struct {
	Policy fluid.Policy `json:"policy"`
	Engine num.Engine   `json:"engine"`
}

type allocationTrust struct {
	Residual           float64  `json:"residual"`
	RelativeErrorBound *float64 `json:"relative_error_bound"`
}

type jobShare struct {
	Name             string        `json:"name" title:"job"`
	Count            int           `json:"count,omitempty"` // 0 if no row has several jobs
	Tasks            render.Number `json:"tasks" title:"tasks"`
	DominantShare    render.Number `json:"dominant_share"`
	DominantResource string        `json:"dominant_resource"`

	inAll render.Number // tasks of all jobs of the row
}

// A countedShare is a jobShare for people, where some rows have several jobs.
type countedShare struct {
	Name             string        `json:"name" title:"job"`
	Count            int           `json:"count"`
	Tasks            render.Number `json:"tasks_of_each"`
	InAll            render.Number `json:"tasks_in_all"`
	DominantShare    render.Number `json:"dominant_share_of_each"`
	DominantResource string        `json:"dominant_resource"`
}

type resourceShare struct {
	Name        string        `json:"name" title:"resource"`
	Utilization render.Number `json:"utilization"`
	Saturated   bool          `json:"saturated"`
	Price       *float64      `json:"price"`
}

// allocate shares the resources among jobs that stay.
func (f *allocateFlags) allocate(ctx context.Context, p *fluid.Pool, policy fluid.Policy) (*allocation, error) {
	r, err := fluid.Allocate(ctx, p, policy, fluid.Settings{Engine: num.Engine(f.engine), RelTol: f.tol})
	if err != nil {
		return nil, err
	}
	a := newAllocation(p, r, command.Digits(cmp.Or(f.tol, 1e-9)))
	if f.tol == 0 {
		a.digits = 6
	}
	if f.audit {
		err = a.addAudit(ctx, p, r)
	}
	return a, err
}

func newAllocation(p *fluid.Pool, r *fluid.Allocation, digits int) *allocation {
	a := &allocation{
		allocationHead:  allocationHead{r.Policy, r.Engine},
		allocationTrust: allocationTrust{r.Residual, r.RelativeErrorBound},
		Jobs:            make([]jobShare, 0, len(p.Jobs)), Resources: []resourceShare{}, digits: digits,
	}
	value := func(v *num.Value) render.Number {
		return belowOne(render.Value(v, command.ProofOf(r.Engine), digits), v.Exact)
	}
	counted := slices.ContainsFunc(p.Jobs, func(j fluid.Job) bool { return j.Size() > 1 })
	for i, job := range p.Jobs {
		s := &r.Jobs[i]
		row := jobShare{Name: job.Name, Tasks: value(&s.Tasks), DominantShare: value(&s.DominantShare),
			DominantResource: p.Resources[s.DominantResource].Name}
		if counted {
			all := s.Tasks.Times(big.NewRat(int64(job.Size()), 1))
			row.Count, row.inAll = job.Size(), value(&all)
		}
		a.Jobs = append(a.Jobs, row)
	}
	for j, resource := range p.Resources {
		s := &r.Resources[j]
		row := resourceShare{Name: resource.Name, Utilization: value(&s.Utilization), Saturated: s.Saturated}
		if s.Utilization.Exact == nil {
			row.Utilization.BelowOne = s.Utilization.Float < 1 && !s.Saturated // elsewhere it may be rounded
		}
		if s.Price != nil {
			row.Price = &s.Price.Float
		}
		a.Resources = append(a.Resources, row)
	}
	return a
}

// belowOne notes that a number is below 1 if its fraction is.
func belowOne(n render.Number, exact *big.Rat) render.Number {
	n.BelowOne = exact != nil && exact.Cmp(big.NewRat(1, 1)) < 0
	return n
}

// lines returns the lines of CSV: one for each job, each resource and the pool.
func (a *allocation) lines(head any) []render.Lines {
	pool := struct {
		allocationHead
		allocationTrust
		*auditAnswer
		*indexAnswer
	}{a.allocationHead, a.allocationTrust, a.Audit, a.Indices}
	return []render.Lines{{Kind: "job", Head: head, Of: a.Jobs}, {Kind: "resource", Head: head, Of: a.Resources}, {Kind: "pool", Head: head, Of: pool}}
}

func (a *allocation) answer() render.Answer {
	return render.Answer{JSON: a, Lines: a.lines(nil), Text: a.text}
}

func (a *allocation) text(t *render.Text) {
	t.Digits, t.Fraction = a.digits, mostFraction
	t.Line("%s; %s engine, %s\n", a.Policy.Words(), a.Engine, a.accuracy())
	if len(a.Jobs) > 0 && a.Jobs[0].Count > 0 {
		var rows []countedShare
		for _, j := range a.Jobs {
			rows = append(rows, countedShare{j.Name, j.Count, j.Tasks, j.inAll, j.DominantShare, j.DominantResource})
		}
		t.Table(rows, "name", "count", "tasks_of_each", "tasks_in_all", "dominant_share_of_each", "dominant_resource")
	} else {
		t.Table(a.Jobs, "name", "tasks", "dominant_share", "dominant_resource")
	}
	resources := []string{"name", "utilization", "saturated"}
	if a.Policy == fluid.PF {
		resources = append(resources, "price")
	}
	t.Table(a.Resources, resources...)
	if a.Audit != nil {
		t.Digits = 6
		a.Audit.text(t)
		t.Line("")
		var lines [][]string
		for _, f := range render.Fields(a.Indices) {
			lines = append(lines, []string{strings.ReplaceAll(f.Key, "_", " "), t.Cell(f.Value)})
		}
		t.Columns(lines)
	}
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

// An auditAnswer says what an allocation has, with witnesses of what it has not.
type auditAnswer struct {
	Tolerance        float64           `json:"tolerance"`
	Feasible         bool              `json:"feasible"`
	ParetoEfficient  bool              `json:"pareto_efficient"`
	SharingIncentive bool              `json:"sharing_incentive"`
	EnvyFree         bool              `json:"envy_free"`
	LieProof         *bool             `json:"lie_proof"` // null if no lie was found, or none looked for
	Overload         *overloadWitness  `json:"overload"`
	Growth           *tasksWitness     `json:"growth"`
	Shortfall        *shortfallWitness `json:"shortfall"`
	Envy             *envyWitness      `json:"envy"`
	Lie              *lieWitness       `json:"lie"`
	LiesTried        int               `json:"lies_tried"`
	*limitAnswer

	unsearched string // why no lie was looked for, "" if lies were or need not be
}

// A limitAnswer is there if some job has a limit of its tasks.
type limitAnswer struct {
	OverLimit *limitWitness `json:"over_limit"`
}

type overloadWitness struct {
	Resource    string        `json:"resource"`
	Utilization render.Number `json:"utilization"`
}

type tasksWitness struct {
	Job   string        `json:"job"`
	Tasks render.Number `json:"tasks"`
}

type shortfallWitness struct {
	Job           string        `json:"job"`
	DominantShare render.Number `json:"dominant_share"`
	Split         render.Number `json:"split"`
}

type envyWitness struct {
	Job       string        `json:"job"`
	Other     string        `json:"other"`
	Tasks     render.Number `json:"tasks"`
	WithOther render.Number `json:"with_other"`
}

// A lieWitness is what a job gains by declaring more than it needs.
type lieWitness struct {
	Job      string        `json:"job"`
	Declared render.Record `json:"declared"` // of the resources of which it is more than the demand
	Tasks    render.Number `json:"tasks"`
	WithLie  render.Number `json:"with_lie"`

	words []string
}

type limitWitness struct {
	Job      string        `json:"job"`
	Tasks    render.Number `json:"tasks"`
	MaxTasks render.Number `json:"max_tasks"`
}

// An indexAnswer says how efficient and how fair an allocation is. Of one that is not exact, indices are of the tasks as printed.
type indexAnswer struct {
	MeanUtilization    render.Number `json:"mean_utilization"`
	LeastUtilization   render.Number `json:"least_utilization"`
	LargestUtilization render.Number `json:"largest_utilization"`
	TotalDominantShare render.Number `json:"total_dominant_share"`
	MaxDominantShare   render.Number `json:"max_dominant_share"`
	DominantEfficiency render.Number `json:"dominant_efficiency"`
	JainIndex          render.Number `json:"jain_index"`
	ShareRatio         render.Number `json:"share_ratio"`
	NashMean           float64       `json:"nash_mean"`
}

// addAudit audits the allocation, with a tolerance that its errors do not reach.
func (a *allocation) addAudit(ctx context.Context, p *fluid.Pool, r *fluid.Allocation) error {
	tasks, tolerance := r.TaskFractions(), r.Tolerance()
	report, err := audit.Audit(ctx, p, tasks, tolerance)
	if err != nil {
		return err
	}
	x, err := audit.Indices(ctx, p, tasks)
	if err != nil {
		return err
	}
	rat := func(v *big.Rat) render.Number { return belowOne(render.Rat(v, command.GivenProof(r.Engine)), v) }
	job := func(i int) string { return p.Jobs[i].Name }
	a.Audit = &auditAnswer{
		Feasible: report.Overload == nil && report.OverLimit == nil, ParetoEfficient: report.Growth == nil,
		SharingIncentive: report.Shortfall == nil, EnvyFree: report.Envy == nil,
	}
	a.Audit.Tolerance, _ = tolerance.Float64()
	if w := report.Overload; w != nil {
		a.Audit.Overload = &overloadWitness{p.Resources[w.Resource].Name, rat(w.Utilization)}
	}
	if w := report.Growth; w != nil {
		a.Audit.Growth = &tasksWitness{job(w.Job), rat(w.Tasks)}
	}
	if w := report.Shortfall; w != nil {
		a.Audit.Shortfall = &shortfallWitness{job(w.Job), rat(w.Share), rat(w.Split)}
	}
	if w := report.Envy; w != nil {
		a.Audit.Envy = &envyWitness{job(w.Job), job(w.Other), rat(w.Tasks), rat(w.WithOther)}
	}
	if slices.ContainsFunc(p.Jobs, func(j fluid.Job) bool { return j.MaxTasks != nil }) {
		a.Audit.limitAnswer = &limitAnswer{}
		if w := report.OverLimit; w != nil {
			a.Audit.OverLimit = &limitWitness{job(w.Job), rat(w.Tasks), rat(w.Limit)}
		}
	}
	if err := a.addLie(ctx, p, r); err != nil {
		return err
	}
	proof := command.GivenProof(r.Engine)
	if x.MeanUtilization.Exact == nil { // the fractions are too long
		proof = render.Unproved
	}
	value := func(v *num.Value) render.Number {
		if v == nil {
			return render.Value(nil, proof, 0)
		}
		n := render.Value(v, proof, 0)
		if proof == render.Fraction {
			n = belowOne(n, v.Exact)
		}
		return n
	}
	a.Indices = &indexAnswer{value(&x.MeanUtilization), value(&x.LeastUtilization), value(&x.LargestUtilization), value(&x.TotalDominantShare),
		value(&x.MaxDominantShare), value(&x.DominantEfficiency), value(x.JainIndex), value(x.ShareRatio), x.NashMean}
	return nil
}

// Allocations that the search for a lie computes, times their rows and resources, in all; and the fewest allocations for one row with
// which a search is worth while.
const (
	lieWork  = 2_000_000
	fewTries = 200
)

// addLie looks for the lie that gains most, of one job of any row. Under [fluid.DRF] and [fluid.BF] none does.
func (a *allocation) addLie(ctx context.Context, p *fluid.Pool, r *fluid.Allocation) error {
	rows := len(p.Jobs)
	tries := min(5000, lieWork/(rows*rows*len(p.Resources)))
	switch {
	case slices.ContainsFunc(p.Jobs, func(j fluid.Job) bool { return j.MaxTasks != nil }):
		a.Audit.unsearched = "some job has max_tasks"
		return nil
	case r.Policy == fluid.DRF || r.Policy == fluid.BF:
		proof := true
		a.Audit.LieProof = &proof
		return nil
	case tries < fewTries:
		a.Audit.unsearched = "there are too many jobs"
		return nil
	}
	var best *audit.Lie
	at := 0
	for i := range p.Jobs {
		lie, err := audit.BestLie(ctx, p, r.Policy, i, audit.LieSettings{Evaluations: tries})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // numbers that double precision does not hold
			a.Audit.unsearched = cli.OneLine(err)
			return nil
		}
		a.Audit.LiesTried += lie.Evaluations
		if lie.Declared != nil && (best == nil || lie.Gain.Float > best.Gain.Float) {
			best, at = lie, i
		}
	}
	if best == nil {
		return nil
	}
	a.Audit.LieProof = new(bool)
	value := func(v *num.Value) render.Number { return render.Value(v, command.ProofOf(r.Engine), a.digits) }
	w := &lieWitness{Job: p.Jobs[at].Name, Tasks: value(&best.Truthful), WithLie: value(&best.Tasks)}
	for j, d := range best.Declared {
		if d.Cmp(p.Jobs[at].Demand.Of(j)) > 0 {
			w.Declared = append(w.Declared, render.Field{Key: p.Resources[j].Name, Value: render.Rat(d, render.Unproved)})
			w.words = append(w.words, fmt.Sprintf("%s %s for %s", p.Resources[j].Name, render.SixRat(d), render.SixRat(p.Jobs[at].Demand.Of(j))))
		}
	}
	a.Audit.Lie = w
	return nil
}

// lieText says what is known of lies.
func (a *auditAnswer) lieText(t *render.Text) string {
	switch w := a.Lie; {
	case w != nil:
		return fmt.Sprintf("no: a job of %s that declares %s runs %s tasks in place of %s", w.Job, strings.Join(w.words, ", "),
			t.Cell(w.WithLie), t.Cell(w.Tasks))
	case a.LieProof != nil:
		return "yes"
	case a.unsearched != "":
		return "not looked at: " + a.unsearched
	}
	return fmt.Sprintf("no lie found among %d", a.LiesTried)
}

func (a *auditAnswer) text(t *render.Text) {
	words := [4]string{"yes", "yes", "yes", "yes"}
	if w := a.limitAnswer; w != nil && w.OverLimit != nil {
		words[0] = fmt.Sprintf("no: a job of %s runs %s tasks, and can run %s", w.OverLimit.Job, t.Cell(w.OverLimit.Tasks), t.Cell(w.OverLimit.MaxTasks))
	}
	if w := a.Overload; w != nil {
		words[0] = fmt.Sprintf("no: the utilization of %s is %s", w.Resource, t.Cell(w.Utilization))
	}
	if w := a.Growth; w != nil {
		words[1] = fmt.Sprintf("no: a job of %s could run %s tasks more", w.Job, t.Cell(w.Tasks))
	}
	if w := a.Shortfall; w != nil {
		words[2] = fmt.Sprintf("no: a job of %s has a dominant share of %s, below its part by weight, %s", w.Job, t.Cell(w.DominantShare), t.Cell(w.Split))
	}
	if w := a.Envy; w != nil {
		words[3] = fmt.Sprintf("no: a job of %s runs %s tasks, and would run %s with what one of %s holds", w.Job, t.Cell(w.Tasks), t.Cell(w.WithOther), w.Other)
	}
	t.Columns([][]string{{"feasible", words[0]}, {"Pareto efficient", words[1]}, {"sharing incentive", words[2]}, {"envy-free", words[3]}, {"lie-proof", a.lieText(t)}})
}

// A compared is the answer of one policy among several, or why there is none.
type compared[T any] struct {
	policy  fluid.Policy
	answer  *T
	refused string
}

// compareAll answers for each policy. A policy that does not take the input is refused; if all are, that is the error.
func compareAll[T any](q command.Query, f *allocateFlags, answer func(command.Query, fluid.Policy) (*T, error)) (all []compared[T], err error) {
	answered := false
	policies := f.policies.List()
	for i, policy := range policies {
		c := compared[T]{policy: policy}
		var bad *input.Error
		var failed error
		c.answer, failed = answer(q.Part(i, len(policies)), policy)
		switch {
		case failed == nil:
			answered = true
		case q.Ctx.Err() == nil && errors.As(failed, &bad):
			err = cmp.Or(err, failed)
			c.answer, c.refused = nil, cli.OneLine(f.translate(failed))
		default:
			return nil, failed
		}
		all = append(all, c)
	}
	if !answered {
		return nil, err
	}
	return all, nil
}

// A refused says why a policy has no answer.
type refused struct {
	Policy  fluid.Policy `json:"policy"`
	Refused string       `json:"refused"`
}

// comparisonOf returns the answers of several policies as one.
func comparisonOf[T any](all []compared[T], whole func(*T) any, lines func(*T, any) []render.Lines, text func(*render.Text)) render.Answer {
	a := render.Answer{Columns: []string{"policy", "kind"}, Text: text}
	var list []any
	for _, c := range all {
		if c.answer == nil {
			r := refused{c.policy, c.refused}
			list, a.Lines = append(list, r), append(a.Lines, render.Lines{Kind: "pool", Of: r})
			continue
		}
		head := struct {
			Policy fluid.Policy `json:"policy"`
		}{c.policy}
		list, a.Lines = append(list, whole(c.answer)), append(a.Lines, lines(c.answer, head)...)
	}
	a.JSON = struct {
		Policies []any `json:"policies"`
	}{list}
	return a
}

// tableOf writes a table with a row for each name and a column for each policy.
func tableOf[T any](t *render.Text, all []compared[T], title, first string, names []string, value func(a *T, row int) any) {
	rows := make([]render.Record, len(names))
	columns := []string{"name"}
	for i, name := range names {
		rows[i] = render.Record{{Key: "name", Value: name, Title: first}}
	}
	for _, c := range all {
		if c.answer == nil {
			continue
		}
		columns = append(columns, string(c.policy))
		for i := range rows {
			rows[i] = append(rows[i], render.Field{Key: string(c.policy), Value: value(c.answer, i)})
		}
	}
	t.Line("%s", title)
	t.Table(rows, columns...)
}

// headings writes a line for each policy.
func headings[T any](t *render.Text, all []compared[T], accuracy func(*T) string) {
	var lines [][]string
	for _, c := range all {
		what := "no answer: " + c.refused
		if c.answer != nil {
			what = accuracy(c.answer)
		}
		lines = append(lines, []string{string(c.policy), c.policy.Words() + "; " + what})
	}
	t.Columns(lines)
	t.Line("")
}

// compare allocates the resources under each of the policies.
func (f *allocateFlags) compare(q command.Query, p *fluid.Pool) (render.Answer, error) {
	all, err := compareAll(q, f, func(q command.Query, policy fluid.Policy) (*allocation, error) {
		return command.WithProgress(q, func(ctx context.Context) (*allocation, error) { return f.allocate(ctx, p, policy) })
	})
	if err != nil {
		return render.Answer{}, err
	}
	return comparisonOf(all, func(a *allocation) any { return a }, (*allocation).lines, func(t *render.Text) { f.compareText(t, p, all) }), nil
}

func (f *allocateFlags) compareText(t *render.Text, p *fluid.Pool, all []compared[allocation]) {
	headings(t, all, func(a *allocation) string { return fmt.Sprintf("%s engine, %s", a.Engine, a.accuracy()) })
	var jobs, resources []string
	for _, j := range p.Jobs {
		jobs = append(jobs, j.Name)
	}
	for _, r := range p.Resources {
		resources = append(resources, r.Name)
	}
	t.Digits, t.Fraction = 6, mostFraction
	for _, c := range all {
		if c.answer != nil {
			t.Digits = max(t.Digits, c.answer.digits)
		}
	}
	tableOf(t, all, "tasks of one job", "job", jobs, func(a *allocation, i int) any { return a.Jobs[i].Tasks })
	tableOf(t, all, "dominant share of one job", "job", jobs, func(a *allocation, i int) any { return a.Jobs[i].DominantShare })
	tableOf(t, all, "utilization", "resource", resources, func(a *allocation, j int) any { return a.Resources[j].Utilization })
	if !f.audit {
		return
	}
	t.Digits = 6
	tableOf(t, all, "properties", "property", []string{"feasible", "Pareto efficient", "sharing incentive", "envy-free", "lie-proof"},
		func(a *allocation, i int) any {
			lieProof := any("unknown")
			if known := a.Audit.LieProof; known != nil {
				lieProof = *known
			}
			return []any{a.Audit.Feasible, a.Audit.ParetoEfficient, a.Audit.SharingIncentive, a.Audit.EnvyFree, lieProof}[i]
		})
	var names []string
	for _, field := range render.Fields(indexAnswer{}) {
		names = append(names, strings.ReplaceAll(field.Key, "_", " "))
	}
	tableOf(t, all, "efficiency and fairness", "index", names, func(a *allocation, i int) any { return render.Fields(a.Indices)[i].Value })
}

// compareTraffic computes the means of jobs that come and go under each of the policies. With simulations, whose intervals are too wide
// for a column each, text has one answer after the other.
func (f *allocateFlags) compareTraffic(q command.Query, t *traffic.Model) (render.Answer, error) {
	all, err := compareAll(q, f, func(q command.Query, policy fluid.Policy) (*trafficCase, error) { return f.underPolicy(q, t, policy) })
	if err != nil {
		return render.Answer{}, err
	}
	text := func(text *render.Text) { compareTrafficText(text, t, all) }
	if f.settings.Runs > 0 {
		text = func(text *render.Text) { oneAfterOther(text, all) }
	}
	lines := func(a *trafficCase, head any) []render.Lines { return a.whole().lines(head) }
	return comparisonOf(all, func(a *trafficCase) any { return a.whole() }, lines, text), nil
}

// oneAfterOther writes the answer of each policy.
func oneAfterOther(t *render.Text, all []compared[trafficCase]) {
	for i, c := range all {
		if i > 0 {
			t.Blank()
		}
		if c.answer == nil {
			t.Line("%s; no answer: %s", c.policy.Words(), c.refused)
			continue
		}
		c.answer.text(t, c.answer.whole())
	}
}

// compareTrafficText writes a table for each measure with a column for each policy.
func compareTrafficText(text *render.Text, t *traffic.Model, all []compared[trafficCase]) {
	headings(text, all, func(a *trafficCase) string { return strings.ReplaceAll(a.accuracy(), "\n", "; ") })
	honest := &trafficCase{traffic: t}
	honest.liesText(text)
	var classes []string
	for _, c := range t.Classes {
		classes = append(classes, c.Name)
	}
	for _, m := range []struct{ title, key string }{{"mean jobs", "mean_jobs"}, {"mean delay", "mean_delay"}, {"service rate", "service_rate"}} {
		tableOf(text, all, m.title, "class", classes,
			func(a *trafficCase, k int) any { return render.Fields(a.whole().Classes[k]).Get(m.key) })
	}
	w := honest.whole()
	honest.loadsText(text, w)
	text.Line("%s", honest.limitText(w, "loads are below 1"))
}
