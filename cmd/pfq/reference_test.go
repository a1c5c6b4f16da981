package main

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/bf"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/oracle"
)

// A reference is a model with its exact answers; see internal/oracle/testdata/README.md.
type reference struct {
	Name   string
	Model  json.RawMessage
	Expect map[string]any
}

func readReferences(t *testing.T) []reference {
	t.Helper()
	var cases []reference
	if err := json.Unmarshal(oracle.ReferenceFile(), &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// numbers returns the results of solve for the quantities of the reference, under keys with the
// given suffix.
func numbers(solution map[string]any, suffix string) map[string][]any {
	out := map[string][]any{"normalization": {solution["normalization"+suffix]}}
	for list, keys := range map[string][]string{
		"classes": {"mean_jobs", "mean_delay", "service_rate"},
		"servers": {"utilization"},
	} {
		for _, row := range solution[list].([]any) {
			for _, key := range keys {
				out[key] = append(out[key], row.(map[string]any)[key+suffix])
			}
		}
	}
	return out
}

// want returns the quantities of the reference in the form that numbers returns.
func (r reference) want() map[string][]any {
	out := map[string][]any{"normalization": {r.Expect["normalization"]}}
	for _, key := range []string{"mean_jobs", "mean_delay", "service_rate", "utilization"} {
		out[key] = r.Expect[key].([]any)
	}
	return out
}

func TestReferenceStability(t *testing.T) {
	for _, c := range readReferences(t) {
		stdout, stderr, status := pfq(string(c.Model), "stability", "-", "--format", "json")
		if status == 0 != (c.Expect["stable"] == true) {
			t.Fatalf("%s: %s", c.Name, stderr)
		}
		got := commandtest.ParseJSON(t, stdout)
		want := map[string]any{"stable": c.Expect["stable"], "margin_exact": c.Expect["margin"],
			"critical_scale_exact": c.Expect["critical_scale"], "bottleneck": c.Expect["bottleneck"]}
		for key := range want {
			if diff := cmp.Diff(want[key], got[key]); diff != "" {
				t.Errorf("%s: %s: %s", c.Name, key, diff)
			}
		}
	}
}

func TestReferenceExact(t *testing.T) {
	for _, c := range readReferences(t) {
		stdout, stderr, status := pfq(string(c.Model), "solve", "-", "--engine", "exact", "--format", "json")
		if c.Expect["stable"] == false {
			if got := commandtest.ParseJSON(t, stdout); status != 1 || got["stable"] != false ||
				!cmp.Equal(got["bottleneck"], c.Expect["bottleneck"]) {
				t.Errorf("%s: status %d, %s", c.Name, status, stdout)
			}
			continue
		}
		if status != 0 {
			t.Fatalf("%s: %s", c.Name, stderr)
		}
		if diff := cmp.Diff(c.want(), numbers(commandtest.ParseJSON(t, stdout), "_exact")); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

// Every printed number is within the printed bound, which meets --tol.
func TestReferenceAuto(t *testing.T) {
	for _, c := range readReferences(t) {
		if c.Expect["stable"] == false {
			continue
		}
		stdout, stderr, status := pfq(string(c.Model), "solve", "-", "--tol", "1e-12", "--format", "json")
		if status != 0 {
			t.Fatalf("%s: %s", c.Name, stderr)
		}
		solution := commandtest.ParseJSON(t, stdout)
		bound := solution["relative_error_bound"].(float64)
		if !(bound > 0 && bound <= 1e-12) {
			t.Errorf("%s: bound %v", c.Name, bound)
		}
		got := numbers(solution, "")
		for key, want := range c.want() {
			for i := range want {
				exact := commandtest.Rat(t, want[i])
				diff := new(big.Rat).SetFloat64(got[key][i].(float64))
				allowed := new(big.Rat).SetFloat64(bound)
				if diff.Sub(diff, exact).Abs(diff).Cmp(allowed.Mul(allowed, exact)) > 0 {
					t.Errorf("%s: %s[%d] = %v, exactly %v: not within %v", c.Name, key, i, got[key][i], want[i], bound)
				}
			}
		}
	}
}

// Examples match their closed forms: [BC17] (10)-(11), random assignment, a line.
func TestExamplesMatchClosedForms(t *testing.T) {
	one := big.NewRat(1, 1)
	gamma1, gamma2, err := bf.ThreeServers(big.NewRat(6, 5), big.NewRat(6, 5), one, one, one)
	if err != nil {
		t.Fatal(err)
	}
	random, err := bf.RandomAssignment(
		t.Context(), 100, one, []bf.RandomClass{{ArrivalRate: big.NewRat(80, 1), Choose: 2}},
	)
	if err != nil {
		t.Fatal(err)
	}
	line := oracle.LineLocality(12, 3, big.NewRat(108, 10), one)
	exact := func(example string) map[string][]any {
		model, _, _ := pfq("", "example", example)
		stdout, stderr, status := pfq(model, "solve", "-", "--engine", "exact", "--format", "json")
		if status != 0 {
			t.Fatal(stderr)
		}
		return numbers(commandtest.ParseJSON(t, stdout), "_exact")
	}
	if got, want := exact("three-servers")["service_rate"],
		[]any{gamma1.RatString(), gamma2.RatString()}; !cmp.Equal(got, want) {
		t.Errorf("three-servers: %v, want %v", got, want)
	}
	if got, want := exact("random-100-2")["mean_delay"], []any{random.MeanDelay.RatString()}; !cmp.Equal(got, want) {
		t.Errorf("random-100-2: %v, want %v", got, want)
	}
	got, want := exact("line"), []any{}
	for _, u := range line.Utilization {
		want = append(want, u.RatString())
	}
	if !cmp.Equal(got["utilization"], want) || got["normalization"][0] != line.Normalization.RatString() {
		t.Errorf("line: %v, want %v and %v", got, want, line.Normalization)
	}
}
