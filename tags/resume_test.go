package tags

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
	"productform/sizes"
	"productform/sizes/exact"
)

// A checkpointCase is a case of testdata/checkpoints.json, whose numbers are texts of about 30
// digits, fractions or decimals. An independent program computed them with 60 digits, from the
// formulas of the comment of [Resume] by quadrature and closed forms.
type checkpointCase struct {
	Name, Kind string
	Sizes      struct{ Kind, Mean, Alpha, Min, Max string }
	Hosts      int
	Load       string
	Resume     ResumeRule
	Overhead   string
	Every      string `json:"checkpoint_every"`
	Objective  string
	Cutoffs    []string
	Answer     struct {
		Cutoffs      []string
		MeanWaiting  string `json:"mean_waiting"`
		MeanDelay    string `json:"mean_delay"`
		MeanSlowdown string `json:"mean_slowdown"`
		MeanStretch  string `json:"mean_stretch"`
		Overhead     string
		Hosts        []struct {
			Load         string
			MeanWork     string `json:"mean_work"`
			SecondMoment string `json:"second_moment_work"`
			VisitWait    string `json:"visit_wait"`
			Waiting      string
		}
	}
}

func checkpointCases(t *testing.T) (cases []checkpointCase) {
	data, err := os.ReadFile("testdata/checkpoints.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil || len(cases) != 24 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	return cases
}

// float returns a number of a case, 0 if it is missing.
func float(t *testing.T, text string) float64 {
	if text == "" {
		return 0
	}
	x, err := num.ParseRat(text)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := num.Float64(x)
	return v
}

func (c checkpointCase) model(t *testing.T) (m Model, cutoffs []float64) {
	s := c.Sizes
	var err error
	if s.Kind == "exponential" {
		m.Sizes, err = sizes.NewExponential(float(t, s.Mean))
	} else {
		m.Sizes, err = sizes.NewBoundedPareto(float(t, s.Min), float(t, s.Max), float(t, s.Alpha))
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Hosts, m.Load = c.Hosts, float(t, c.Load)
	m.Resume = Resume{c.Resume, float(t, c.Overhead), float(t, c.Every)}
	for _, s := range c.Cutoffs {
		cutoffs = append(cutoffs, float(t, s))
	}
	return m, cutoffs
}

// Means at given cutoffs agree to 1e-11, which allows for slacks of 1e-3. At the best cutoffs, which
// are found to about 1e-8, the objective is flat, and the other means move by as much.
func TestCheckpointReference(t *testing.T) {
	for _, c := range checkpointCases(t) {
		m, cutoffs := c.model(t)
		tol, r, err := 1e-11, Result{}, error(nil)
		if c.Kind == "evaluate" {
			r, err = Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
		} else {
			o := Objective{Waiting: 1}
			if c.Objective == "slowdown" {
				o = Objective{Slowdown: 1}
			}
			tol = 1e-6
			r, err = Optimize(context.Background(), m, PolicyTAGS, o)
			for i, s := range c.Answer.Cutoffs {
				if err == nil && !oracle.Near(r.Cutoffs[i], float(t, s), 1e-7) {
					t.Errorf("%s: cutoff %d is %v, want %s", c.Name, i+1, r.Cutoffs[i], s)
				}
			}
			want := c.Answer.MeanWaiting
			if c.Objective == "slowdown" {
				want = c.Answer.MeanSlowdown
			}
			if !oracle.Near(r.Objective.Float, float(t, want), 1e-12) || !(r.Gap <= 1e-10) {
				t.Errorf("%s: objective %v, gap %v, want %s", c.Name, r.Objective.Float, r.Gap, want)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		check := func(what string, got float64, want string) {
			if want != "" && !oracle.Near(got, float(t, want), tol) {
				t.Errorf("%s: %s is %v, want %s", c.Name, what, got, want)
			}
		}
		check("mean waiting", r.MeanWaiting.Float, c.Answer.MeanWaiting)
		check("mean delay", r.MeanDelay.Float, c.Answer.MeanDelay)
		check("mean slowdown", r.MeanSlowdown.Float, c.Answer.MeanSlowdown)
		check("mean stretch", r.MeanStretch.Float, c.Answer.MeanStretch)
		check("lost work", r.Lost.Float, c.Answer.Overhead)
		for i, h := range c.Answer.Hosts {
			check("load", r.Hosts[i].Load.Float, h.Load)
			check("mean work", r.Hosts[i].VisitMean.Float, h.MeanWork)
			check("second moment", r.Hosts[i].VisitSquare.Float, h.SecondMoment)
			check("visit waiting", r.Hosts[i].VisitWait.Float, h.VisitWait)
			check("waiting", r.Hosts[i].Waiting.Float, h.Waiting)
		}
	}
}

// Restarts are TAGS to the last digit. Jobs whose only checkpoint is at 0 redo everything: other
// formulas, the same means.
func TestRestartIsTAGS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 4)
		cutoffs := drawCutoffs(t, m)
		if cutoffs == nil && m.Hosts > 1 {
			return
		}
		want, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
		if err != nil {
			t.Fatal(err)
		}
		m.Resume.Rule = ResumeRestart
		got, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
		if diff := cmp.Diff(numbersOfFloats(want), numbersOfFloats(got)); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
		m.Resume = Resume{Rule: ResumeEvery, Every: 1e300}
		got, err = Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
		if err != nil {
			t.Fatal(err)
		}
		tolerance := 1e-12
		for _, h := range want.Hosts {
			tolerance = max(tolerance, 1e-13/h.Slack.Float)
			if v := h.Visit.Float; v > 0 && v < 1e-280 { // denormal numbers have fewer digits
				return
			}
		}
		if m.Speeds != nil { // the work is lost where jobs were killed, but redone at the next host
			got.Excess = want.Excess
		}
		a, b := numbersOfFloats(want), numbersOfFloats(got)
		for i := range a {
			if !oracle.Near(a[i], b[i], tolerance) {
				t.Errorf("number %d: %v, for one checkpoint at 0 %v", i, a[i], b[i])
			}
		}
	})
}

// One checkpoint at 0 gives the optimum of restarts.
func TestOptimumOfOneCheckpoint(t *testing.T) {
	for _, text := range []string{"exponential", "bounded-pareto:1.3:1:10000", "lognormal:6"} {
		d := ok(sizes.Parse(text, 1))
		m := Model{Sizes: d, Hosts: 3, Load: 0.4}
		want := ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}))
		m.Resume = Resume{Rule: ResumeEvery, Every: 1e300}
		got := ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}))
		if !oracle.Near(got.Objective.Float, want.Objective.Float, 1e-10) || got.Gap > 1e-10 {
			t.Errorf("%s: objective %v, gap %v, want %v", text, got.Objective.Float, got.Gap, want.Objective.Float)
		}
	}
}

// The proof closes where the cost drops, at checkpoints and sizes of a list, and where cutoffs are
// below all sizes. No random cutoffs are better, some of them at drops.
func TestProofWithDrops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		text   string
		speeds []float64
		load   float64
		resume Resume
	}{
		{"hyperexponential:9", []float64{1, 1, 1, 1}, 0.8, Resume{Rule: ResumeEvery, Every: 0.3, Overhead: 0.05}},
		{"lognormal:4", []float64{2, 1, 1}, 0.8, Resume{Rule: ResumeEvery, Every: 0.3, Overhead: 0.05}},
		{"bounded-pareto:2.7:1:1000", []float64{1, 1, 3}, 0.3, Resume{Rule: ResumeCut}},
		{"bounded-pareto:2.7:1:1000", []float64{1, 1, 1, 1}, 0.8, Resume{Rule: ResumeCut}},
		{"pareto:2.5", []float64{1, 1, 3}, 0.3, Resume{Rule: ResumeCut, Overhead: 0.2}},
		{"deterministic", []float64{1, 1, 1}, 0.3, Resume{Rule: ResumeCut}},
		{"list", []float64{1, 1, 1, 1}, 0.7, Resume{Rule: ResumeCut, Overhead: 0.01}},
		{"list", []float64{1, 2}, 0.5, Resume{Rule: ResumeEvery, Every: 0.4, Overhead: 0.02}},
	} {
		d, err := sizes.Parse(c.text, 1)
		if c.text == "list" {
			d, err = sizes.NewEmpirical([]float64{0.1, 0.1, 0.1, 0.2, 0.2, 0.3, 0.5, 0.9, 3, 10})
		}
		if err != nil {
			t.Fatal(err)
		}
		m := Model{Sizes: d, Hosts: len(c.speeds), Speeds: c.speeds, Load: c.load, Resume: c.resume}
		best := ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1}))
		if best.Gap > 1e-10 {
			t.Errorf("%+v: gap %v", c, best.Gap)
		}
		for range 200 {
			cutoffs := make([]float64, m.Hosts-1)
			for j := range cutoffs {
				switch s := best.Cutoffs[j] * math.Exp(r.NormFloat64()*r.Float64()); {
				case r.IntN(3) == 0 && c.resume.Every > 0:
					cutoffs[j] = c.resume.Every * math.Round(s/c.resume.Every)
				case r.IntN(3) == 0:
					cutoffs[j] = d.Sample(r)
				default:
					cutoffs[j] = s
				}
			}
			slices.Sort(cutoffs)
			other, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
			if err == nil && other.MeanWaiting.Float < best.Objective.Float*(1-1e-10) {
				t.Fatalf("%+v: %v with cutoffs %v, but %v with %v", c, best.Objective.Float, best.Cutoffs,
					other.MeanWaiting.Float, cutoffs)
			}
		}
	}
}

// Enclose agrees for cutoffs below all sizes, for equal ones, and for idle hosts.
func TestEncloseResumed(t *testing.T) {
	m := ExactModel{Sizes: exact.BoundedPareto{Alpha: num.Rat("3/2"), Low: num.Rat("1"), High: num.Rat("1000")},
		Hosts: 4, Load: num.Rat("1/4")}
	for _, cutoffs := range [][]string{{"1/4", "1/2", "2"}, {"2", "2", "5"}, {"0", "1/2", "3"},
		{"3/10", "6/10", "9/10"}} {
		for _, overhead := range []string{"0", "1/8"} {
			for _, every := range []string{"", "3/10"} {
				m.Resume = ExactResume{Rule: ResumeCut, Overhead: num.Rat(overhead)}
				if every != "" {
					m.Resume.Rule, m.Resume.Every = ResumeEvery, num.Rat(every)
				}
				f := Model{Sizes: ok(sizes.NewBoundedPareto(1, 1000, 1.5)), Hosts: 4, Load: 0.25,
					Resume: Resume{m.Resume.Rule, float(t, overhead), float(t, every)}}
				var doubles []float64
				var rats []*big.Rat
				for _, s := range cutoffs {
					doubles, rats = append(doubles, float(t, s)), append(rats, num.Rat(s))
				}
				want := ok(Evaluate(context.Background(), f, PolicyTAGS, doubles))
				got, err := Enclose(context.Background(), m, PolicyTAGS, rats, 0)
				if err != nil {
					t.Fatalf("%v, %+v: %v", cutoffs, f.Resume, err)
				}
				list := numbersOfFloats(want)
				for i, e := range got.numbers() {
					if x, _ := e.Float64(); !oracle.Near(x, list[i], 1e-12) {
						t.Errorf("%v, %+v: number %d: Enclose %v, Evaluate %v", cutoffs, f.Resume, i, x, list[i])
					}
				}
			}
		}
	}
}

// Policies that do not stop jobs have no use for checkpoints.
func TestResumeOfOtherPolicies(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewEmpirical([]float64{1, 2, 2, 5, 9})), Hosts: 2, Load: 0.5}
	resumed := m
	resumed.Resume = Resume{Rule: ResumeCut, Overhead: 1}
	for _, p := range []Policy{PolicySITA, PolicySITAE, PolicyRandom, PolicyFB, PolicySRPT} {
		var cutoffs []float64
		if p == PolicySITA {
			cutoffs = []float64{2}
		}
		want := ok(Evaluate(context.Background(), m, p, cutoffs))
		got := ok(Evaluate(context.Background(), resumed, p, cutoffs))
		if got.MeanWaiting != want.MeanWaiting || got.MeanSlowdown != want.MeanSlowdown {
			t.Errorf("%s: %v, want %v", p, got.MeanWaiting, want.MeanWaiting)
		}
	}
	want := ok(Optimize(context.Background(), m, PolicySITA, Objective{Waiting: 1}))
	got := ok(Optimize(context.Background(), resumed, PolicySITA, Objective{Waiting: 1}))
	if got.Objective != want.Objective {
		t.Errorf("sita: %v, want %v", got.Objective, want.Objective)
	}
}

// If a host that stops jobs needs no longer on each than the previous host, no job waits there: with
// evenly spaced cutoffs and no overhead, and with faster hosts.
func TestHostsWithoutWaiting(t *testing.T) {
	for _, c := range []struct {
		resume  Resume
		speeds  []float64
		cutoffs []float64
		want    []bool
	}{
		{Resume{Rule: ResumeCut}, nil, []float64{0.3, 0.6, 0.9}, []bool{false, true, true, false}},
		{Resume{Rule: ResumeCut}, nil, []float64{0.3, 0.7, 0.9}, []bool{false, false, true, false}},
		{Resume{Rule: ResumeCut, Overhead: 0.1}, nil, []float64{0.3, 0.5, 0.9}, []bool{false, true, false, false}},
		{Resume{Rule: ResumeCut}, []float64{1, 2, 1, 1}, []float64{0.3, 0.9, 1.2}, []bool{false, true, true, false}},
		{Resume{Rule: ResumeEvery, Every: 0.2}, nil, []float64{0.3, 0.5, 0.6}, []bool{false, true, true, false}},
		{Resume{}, nil, []float64{0.3, 0.6, 0.9}, []bool{false, false, false, false}},
	} {
		m := Model{Sizes: ok(sizes.NewExponential(1)), Hosts: 4, Load: 0.1, Speeds: c.speeds, Resume: c.resume}
		r := ok(Evaluate(context.Background(), m, PolicyTAGS, c.cutoffs))
		for i, h := range r.Hosts {
			if h.NoWait != c.want[i] {
				t.Errorf("%+v, cutoffs %v: host %d has no waiting: %v", c.resume, c.cutoffs, i+1, h.NoWait)
			}
		}
	}
}

func TestBadResume(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewExponential(1)), Hosts: 2, Load: 0.5}
	for path, r := range map[string]Resume{
		"Resume.Rule": {Rule: "again"}, "Resume.Overhead": {Rule: ResumeCut, Overhead: -1},
		"Resume.Every": {Rule: ResumeEvery},
	} {
		m.Resume = r
		_, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Waiting: 1})
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%+v: %v, want an error about %s", r, err, path)
		}
	}
	for _, r := range []Resume{
		{Overhead: 1}, {Every: 1}, {Rule: ResumeCut, Every: 1}, {Rule: ResumeEvery, Every: math.NaN()},
	} {
		if m.Resume = r; m.Validate() == nil {
			t.Errorf("%+v: no error", r)
		}
	}
	r := Resume{Rule: ResumeCut, Overhead: 2}
	if s, worse := r.WorseThanRestart([]float64{3, 2, 1}); !worse || s != 1 {
		t.Errorf("cutoff %v, %v", s, worse)
	}
}
