package main

import (
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sim/pool"
)

// allocateProgram is pfq with the command allocate alone.
var allocateProgram = commandtest.Program(func() *cobra.Command { return command.Root(newAllocateCommand()) })

// runAllocate runs one command line of pfq allocate in this process.
var runAllocate = allocateProgram.Run

// Two jobs on one resource of 4 units: tasks of a take 1 of them, of b 3.
const onePool = `{"resources": [{"name": "c<u>", "capacity": 4}], "jobs": [
	{"name": "a", "demand": {"c<u>": 1}}, {"name": "b", "demand": {"c<u>": 3}, "count": 1}]}`

func allocateJSON(t *testing.T, pool, args string) map[string]any {
	t.Helper()
	return allocateProgram.JSON(t, pool, "allocate - "+args)
}

// Each job runs one task, so the dominant shares are 1/4 and 3/4; half of the resource would give
// each 1/2. With the resources of the second job, the first would run 3 tasks.
func TestAllocateJSON(t *testing.T) {
	got := allocateJSON(t, onePool, "--policy maxmin --audit")
	indices := got["indices"].(map[string]any)
	if jain := 4.0 / 5; indices["jain_index"] != jain || indices["jain_index_exact"] != "4/5" ||
		indices["share_ratio_exact"] != "1/3" || indices["dominant_efficiency"] != 1.0 {
		t.Errorf("indices are %v", indices)
	}
	if nash := indices["nash_mean"].(float64); math.Abs(nash-math.Sqrt(3)/4) > 1e-12 { // computed to 1e-13
		t.Errorf("Nash mean is %v", nash)
	}
	delete(got, "indices")
	delete(got["audit"].(map[string]any), "lies_tried")
	want := map[string]any{
		"policy": "maxmin", "engine": "exact",
		"jobs": []any{
			map[string]any{
				"name":                 "a",
				"tasks":                1.0,
				"tasks_exact":          "1",
				"dominant_share":       0.25,
				"dominant_share_exact": "1/4",
				"dominant_resource":    "c<u>",
			},
			map[string]any{
				"name":                 "b",
				"tasks":                1.0,
				"tasks_exact":          "1",
				"dominant_share":       0.75,
				"dominant_share_exact": "3/4",
				"dominant_resource":    "c<u>",
			},
		},
		"resources": []any{map[string]any{
			"name":              "c<u>",
			"utilization":       1.0,
			"utilization_exact": "1",
			"saturated":         true,
			"price":             nil,
		}},
		"residual": 0.0, "relative_error_bound": 0.0,
		"audit": map[string]any{
			"tolerance":         0.0,
			"feasible":          true,
			"pareto_efficient":  true,
			"sharing_incentive": false,
			"envy_free":         false,
			"lie_proof":         false,
			// 1000 φ + 3 φ = 4, and 1000 φ tasks run
			"lie": map[string]any{"job": "a", "declared": map[string]any{"c<u>": 1000.0},
				"tasks": 1.0, "tasks_exact": "1", "with_lie": 4000.0 / 1003, "with_lie_exact": "4000/1003"},
			"overload": nil,
			"growth":   nil,
			"shortfall": map[string]any{
				"job":                  "a",
				"dominant_share":       0.25,
				"dominant_share_exact": "1/4",
				"split":                0.5,
				"split_exact":          "1/2",
			},
			"envy": map[string]any{
				"job":              "a",
				"other":            "b",
				"tasks":            1.0,
				"tasks_exact":      "1",
				"with_other":       3.0,
				"with_other_exact": "3",
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The fields are in the documented order.
func TestAllocateJSONOrder(t *testing.T) {
	for _, c := range []struct{ pool, args, keys string }{
		{onePool, "--policy drf", "policy engine jobs name tasks dominant_share dominant_resource resources name " +
			"utilization saturated price residual relative_error_bound"},
		{
			oneTraffic, "--policy bf --dynamic",
			"stable policy classes name dominant_resource arrival_rate mean_jobs mean_delay service_rate limit " +
				"resources name load method states truncation_bound truncation_proved rounding_bound iteration_error " +
				"rate_residual parts",
		},
	} {
		rest, stderr, _ := runAllocate(
			c.pool, append([]string{"allocate", "-", "--format", "json"}, strings.Fields(c.args)...)...,
		)
		for _, key := range strings.Fields(c.keys) {
			_, after, ok := strings.Cut(rest, `"`+key+`": `)
			if !ok {
				t.Fatalf("%s is missing or too early in %s%s", key, rest, stderr)
			}
			rest = after
		}
	}
}

// The two jobs fill both resources: a + 3b = 9 and 4a + b = 18 give a = 45/11 and b = 18/11. With
// prices p and q of the processors and the memory, 1/a = p/9 + 4q/18 and 1/b = 3p/9 + q/18 give p =
// 9/5 and q = 1/5. They sum to the number of jobs, because everything used is paid for.
func TestAllocateProportionalFairness(t *testing.T) {
	pool := commandtest.Example(t, "pools/two-jobs.yaml")
	got := allocateJSON(t, pool, "--policy pf --tol 1e-30 --audit")
	if got["engine"] != "enclose" || !(got["relative_error_bound"].(float64) <= 1e-30+0x1p-53) {
		t.Errorf("engine %v, bound %v", got["engine"], got["relative_error_bound"])
	}
	for i, want := range []string{"45/11", "18/11"} {
		job := got["jobs"].([]any)[i].(map[string]any)
		low, high, value := commandtest.Rat(t, job["tasks_low"]), commandtest.Rat(t, job["tasks_high"]),
			commandtest.Rat(t, want)
		if low.Cmp(value) > 0 || high.Cmp(value) < 0 {
			t.Errorf("%v is not in [%v, %v]", want, job["tasks_low"], job["tasks_high"])
		}
		// 1e-30 and two roundings to 31 digits
		if width := high.Sub(high, low).Quo(high, value); width.Cmp(commandtest.Rat(t, "1e-29")) > 0 {
			t.Errorf("[%v, %v] is wider than 1e-29", job["tasks_low"], job["tasks_high"])
		}
	}
	for j, want := range []float64{1.8, 0.2} {
		resource := got["resources"].([]any)[j].(map[string]any)
		// not proved for prices
		if price := resource["price"].(float64); math.Abs(price-want) > 1e-9 || resource["saturated"] != true {
			t.Errorf("resource %d is %v, want the price %v", j, resource, want)
		}
	}
	audit := got["audit"].(map[string]any)
	for _, key := range []string{"feasible", "pareto_efficient", "sharing_incentive", "envy_free"} {
		if audit[key] != true {
			t.Errorf("%s is %v", key, audit[key])
		}
	}
	float := allocateJSON(t, pool, "--policy pf --engine float")
	if float["relative_error_bound"] != nil || float["jobs"].([]any)[0].(map[string]any)["tasks_low"] != nil {
		t.Errorf("with float: %v", float)
	}
}

func TestAllocateCSV(t *testing.T) {
	stdout, _, status := runAllocate(onePool, "allocate", "-", "--policy", "drf", "--format", "csv")
	const want = `kind,name,tasks,tasks_exact,dominant_share,dominant_share_exact,dominant_resource,` +
		`utilization,utilization_exact,saturated,price,policy,engine,residual,relative_error_bound
job,a,2,2,0.5,1/2,c<u>,,,,,,,,
job,b,0.6666666666666666,2/3,0.5,1/2,c<u>,,,,,,,,
resource,c<u>,,,,,,1,1,true,,,,,
pool,,,,,,,,,,,drf,exact,0,0
`
	if status != 0 || stdout != want {
		t.Error(cmp.Diff(want, stdout))
	}
}

// Rows with counts give results per job: each of 10 jobs of a and 5 of b gets 1/15 of the dominant
// share.
func TestAllocateCounts(t *testing.T) {
	pool := strings.Replace(onePool, `{"c<u>": 1}`, `{"c<u>": 1}, "count": 10`, 1)
	pool = strings.Replace(pool, `"count": 1}`, `"count": 5}`, 1)
	stdout, _, _ := runAllocate(pool, "allocate", "-", "--policy", "drf")
	const want = `dominant resource fairness; exact engine, computed exactly, shown as short fractions and to six digits

job  count  tasks of each     tasks in all    dominant share of each  dominant resource
a    10     4/15 = 0.266667   8/3 = 2.66667   1/15 = 0.0666667        c<u>
b    5      4/45 = 0.0888889  4/9 = 0.444444  1/15 = 0.0666667        c<u>

resource  utilization  saturated
c<u>      1            yes
`
	if stdout != want {
		t.Error(cmp.Diff(want, stdout))
	}
}

// Long fractions are shown as decimals only, and a row of one job among others shows its count; the
// bounds on the total number of tasks are those per job times the count.
func TestAllocateLongFractions(t *testing.T) {
	pool := strings.Replace(onePool, `{"c<u>": 1}`, `{"c<u>": 1}, "count": 1000003`, 1)
	stdout, _, _ := runAllocate(pool, "allocate", "-", "--policy", "drf")
	const want = `dominant resource fairness; exact engine, computed exactly, shown as short fractions and to six digits

job  count    tasks of each           tasks in all            dominant share of each  dominant resource
a    1000003  1/250001 = 3.99998e-06  4                       9.99996e-07             c<u>
b    1        1/750003 = 1.33333e-06  1/750003 = 1.33333e-06  9.99996e-07             c<u>

resource  utilization  saturated
c<u>      1            yes
`
	if stdout != want {
		t.Error(cmp.Diff(want, stdout))
	}
}

// A number below 1 is never shown as 1, and a number above 1 is not shown as below.
func TestAllocateNearOne(t *testing.T) {
	fraction := func(text string) render.Number { return render.Rat(num.Rat(text), render.Fraction) }
	load := func(text string) render.Number {
		return render.RatBeside(num.Rat(text), big.NewRat(1, 1), render.Unproved)
	}
	for _, c := range []struct {
		n    render.Number
		want string
	}{
		{load("0.99999989"), "0.9999999"},
		{load("1.00000011"), "1"},
		{load("0.99999999999999999999"), "0.9999999999999999"},
		{render.Number{Float: math.Nextafter(1, 0)}, "1"}, // a saturated resource
		{fraction("99999999999999999999/100000000000000000000"), "<1"},
		{fraction("10000001/10000000"), "1"},
		{fraction("1"), "1"},
		{fraction("500000/999999"), "500000/999999 = 0.500001"},
		{fraction("500000/1000001"), "0.5"},
	} {
		text := render.Text{Digits: 6, Fraction: mostFraction}
		if got := text.Cell(c.n); got != c.want {
			t.Errorf("%v: %s, want %s", c.n, got, c.want)
		}
	}
	if stdout, _, _ := runAllocate(
		strings.Replace(oneTraffic, "0.5", `"1.1666665"`, 1), "allocate", "-", "--dynamic", "--policy", "bf",
	); !strings.HasSuffix(stdout, "cpu       0.9999999\n") {
		t.Error(stdout)
	}
}

// One job under proportional fairness gets all of its dominant resource. That is a bound, though a
// tight one.
func TestAllocateEnclosedOne(t *testing.T) {
	pool := `{"resources": [{"name": "cpu", "capacity": 4}], "jobs": [{"name": "a", "demand": {"cpu": 1}}]}`
	if stdout, _, _ := runAllocate(pool, "allocate", "-"); !strings.HasPrefix(
		stdout, "proportional fairness; enclose engine, within ",
	) {
		t.Error(stdout)
	}
}

// On one resource balanced fairness is processor sharing: E[x_k] = ρ_k/(1-ρ). Class a brings 1/8, b
// 3/8 of it.
const oneTraffic = `{"resources": [{"name": "cpu", "capacity": 4}], "jobs": [
	{"name": "a", "demand": {"cpu": 1}, "arrival_rate": "1/4", "mean_size": 2},
	{"name": "b", "demand": {"cpu": 3}, "arrival_rate": 0.5},
	{"name": "never", "demand": {"cpu": 1}, "arrival_rate": 0}]}`

func TestAllocateDynamic(t *testing.T) {
	for _, policy := range []string{"bf", "pf", "drf"} { // all equal here because weights are equal
		got := allocateJSON(t, oneTraffic, "--dynamic --policy "+policy)
		bound := got["truncation_bound"].(float64) + got["rounding_bound"].(float64)
		states := 1.0
		for _, class := range got["classes"].([]any) {
			if limit, ok := class.(map[string]any)["limit"].(float64); ok {
				states *= limit + 1
			}
		}
		if summed := got["states"].(float64); states > 1 &&
			(summed > states || summed < states/10 || policy == "bf" && summed != states) {
			t.Errorf("%s: %v states of %v within the limits", policy, summed, states)
		}
		if got["stable"] != true || got["policy"] != policy || !(bound < 1e-8) ||
			got["resources"].([]any)[0].(map[string]any)["load"] != 0.5 {
			t.Errorf("%v", got)
		}
		for k, want := range []map[string]float64{
			{"arrival_rate": 0.25, "mean_jobs": 0.25, "mean_delay": 1, "service_rate": 2},
			{"arrival_rate": 0.5, "mean_jobs": 0.75, "mean_delay": 1.5, "service_rate": 2.0 / 3},
		} {
			job := got["classes"].([]any)[k].(map[string]any)
			for key, v := range want {
				if x := job[key].(float64); math.Abs(x-v) > 1e-8*v { // the bounds are below
					t.Errorf("%s: %s of class %d is %v, want %v", policy, key, k, x, v)
				}
			}
			if _, tasks := job["tasks"]; tasks || job["dominant_resource"] != "cpu" {
				t.Errorf("%v", job)
			}
		}
		never := got["classes"].([]any)[2].(map[string]any)
		if never["mean_jobs"] != 0.0 || never["mean_delay"] != nil || never["service_rate"] != nil {
			t.Errorf("%v", never)
		}
	}
}

// Loads below 1 are not proved to suffice under bottleneck max fairness.
func TestAllocateStableUnproved(t *testing.T) {
	got := allocateJSON(t, oneTraffic, "--dynamic --policy bmf")
	if v, ok := got["stable"]; !ok || v != nil || got["parts"] != 1.0 || !(got["rate_residual"].(float64) < 1e-12) {
		t.Errorf("%v", got)
	}
	if stdout, _, status := runAllocate(oneTraffic, "allocate", "-", "--dynamic", "--policy", "bmf"); status != 0 ||
		!strings.HasPrefix(stdout, "loads below 1; ") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// Classes with separate resources are solved separately.
func TestAllocateParts(t *testing.T) {
	apart := strings.NewReplacer(
		`"demand": {"cpu": 1, "ram": 2}`, `"demand": {"cpu": 2}`,
		`"demand": {"cpu": 1, "ram": 1}`, `"demand": {"ram": 2}`,
	)
	stdout, stderr, status := runAllocate(apart.Replace(manyClasses), "allocate", "-", "--dynamic")
	if status != 0 || !strings.Contains(stdout, " in 2 parts without common resources\n") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// An overloaded resource is an answer, and the exit status 1.
func TestAllocateOverload(t *testing.T) {
	overload := strings.Replace(oneTraffic, "0.5", `"7/6"`, 1)
	stdout, stderr, status := runAllocate(overload, "allocate", "-", "--dynamic", "--format", "json")
	want := map[string]any{"stable": false, "policy": "pf", "resource": "cpu", "load": 1.0, "load_exact": "1",
		"critical_scale": 1.0, "critical_scale_exact": "1", "bottleneck": "cpu", "classes": []any{},
		"resources": []any{map[string]any{"name": "cpu", "load": 1.0}}}
	if diff := cmp.Diff(want, commandtest.ParseJSON(t, stdout)); status != 1 || stderr != "" || diff != "" {
		t.Errorf("status %d, %s\n%s", status, stderr, diff)
	}
	stdout, _, status = runAllocate(overload, "allocate", "-", "--dynamic")
	if text := "unstable: the load of cpu is 1, and jobs pile up under every policy\n" +
		"loads would be below 1 with the arrival rates multiplied by anything below 1, when cpu is full\n\n" +
		"resource  load\ncpu       1\n"; status != 1 || stdout != text {
		t.Errorf("status %d, %s", status, stdout)
	}
	stdout, _, status = runAllocate(overload, "allocate", "-", "--dynamic", "--format", "csv", "--runs", "5")
	if text := "kind,name,load,load_exact,stable,policy,critical_scale,critical_scale_exact,bottleneck,resource\n" +
		"resource,cpu,1,,,,,,,\npool,,1,1,false,pf,1,1,cpu,cpu\n"; status != 1 || stdout != text {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// Loads follow from declared demands, and the answer names a class that lies. Here a declares 2
// units for 1 of its tasks: its load is 1/4 instead of 1/8. Together with b it is 5/8, or 17/16 if
// b arrives at rate 13/12.
func TestAllocateLies(t *testing.T) {
	lies := strings.Replace(oneTraffic, `{"cpu": 1}`, `{"cpu": 1}, "declared": {"cpu": 2}`, 1)
	got := allocateJSON(t, lies, "--dynamic --policy bf")
	want := []any{map[string]any{"name": "cpu", "load": 0.625, "true_load": 0.5}}
	if diff := cmp.Diff(want, got["resources"]); diff != "" {
		t.Error(diff)
	}
	const told = "class a declares more than it needs: cpu 2 for 1\n"
	stdout, _, _ := runAllocate(lies, "allocate", "-", "--dynamic", "--policy", "bf")
	if !strings.Contains(stdout, "\n"+told) ||
		!strings.HasSuffix(stdout, "\nresource  load   true load\ncpu       0.625  0.5\n") {
		t.Error(stdout)
	}
	overload := strings.Replace(lies, `0.5`, `"13/12"`, 1)
	stdout, _, status := runAllocate(overload, "allocate", "-", "--dynamic")
	const text = "unstable: the load of cpu is 1.0625 with declared demands (0.9375 with true demands), and jobs " +
		"pile up under every policy\n" +
		"loads would be below 1 with the arrival rates multiplied by anything below 0.941176, when cpu is full\n" +
		told + "\nresource  load    true load\ncpu       1.0625  0.9375\n"
	if status != 1 || stdout != text {
		t.Errorf("status %d, %s", status, cmp.Diff(text, stdout))
	}
	stdout, _, _ = runAllocate(overload, "allocate", "-", "--dynamic", "--format", "json")
	if v := commandtest.ParseJSON(t, stdout); v["true_load"] != 0.9375 || v["true_load_exact"] != "15/16" {
		t.Errorf("%v", v)
	}
}

// Simulations agree with theory, and do not depend on the number of parallel runs.
func TestAllocateSimulate(t *testing.T) {
	for _, policy := range []string{"pf", "drf", "bf"} {
		var answers []map[string]any
		for _, jobs := range []string{"1", "2"} {
			stdout, _, status := runAllocate(
				oneTraffic, "allocate", "-", "--dynamic", "--policy", policy, "--runs", "20", "--jumps", "1e4",
				"--parallel", jobs, "--format", "json",
			)
			if status != 0 {
				t.Fatalf("status %d, %s", status, stdout)
			}
			got := commandtest.ParseJSON(t, stdout)
			delete(got, "jumps_per_second")
			answers = append(answers, got)
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Error(diff)
		}
		commandtest.Joint(t, answers[0]["joint"], answers[0])
		for _, job := range answers[0]["classes"].([]any)[:2] {
			for key, e := range job.(map[string]any)["simulated"].(map[string]any) {
				// |z| of a normal variable is larger with probability 4e-8
				if z, ok := e.(map[string]any)["z"].(float64); !ok || math.Abs(z) > 5.5 {
					t.Errorf("%s: %s is %v", policy, key, e)
				}
			}
		}
	}
}

// manyClasses has more classes than the chain can take.
const manyClasses = `{"resources": [{"name": "cpu", "capacity": 4}, {"name": "ram", "capacity": 4}], "jobs": [
	{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 0.5},
	{"name": "b", "demand": {"cpu": 1, "ram": 2}, "arrival_rate": 0.5},
	{"name": "c", "demand": {"ram": 1}, "arrival_rate": 0.5},
	{"name": "d", "demand": {"cpu": 1, "ram": 1}, "arrival_rate": 0.5}]}`

func TestAllocateTooManyClasses(t *testing.T) {
	stdout, stderr, status := runAllocate(manyClasses, "allocate", "-", "--dynamic")
	if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "pfq: standard input: jobs = 4 classes that share "+
		"resources: want at most 3 for exact means, except under bf; add --runs 20") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	stdout, stderr, status = runAllocate(
		manyClasses, "allocate", "-", "--dynamic", "--runs", "20", "--jumps", "1e3", "--format", "json",
	)
	got := commandtest.ParseJSON(t, stdout)
	job := got["classes"].([]any)[3].(map[string]any)
	if status != 0 || strings.Contains(stderr, "note") ||
		got["why"] != "no exact means: pf is computed for at most 3 classes that share resources, here 4" ||
		job["mean_jobs"] != nil ||
		!(job["simulated"].(map[string]any)["mean_jobs"].(map[string]any)["mean"].(float64) > 0) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	if stdout, _, status := runAllocate(
		manyClasses, "allocate", "-", "--dynamic", "--runs", "20", "--jumps", "1e3",
	); status != 0 ||
		!strings.HasPrefix(stdout, "stable; proportional fairness; no exact means: pf is computed for at most 3 "+
			"classes that share resources, here 4\n") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// Traffic too near the limit of stability for exact means is simulated, and the answer states the
// load once.
func TestAllocateTooNear(t *testing.T) {
	stdout, stderr, status := runAllocate(
		strings.ReplaceAll(sharedTraffic, "1/4", "0.333333"), "allocate", "-", "--dynamic",
		"--runs", "20", "--jumps", "1e3",
	)
	if want := "stable; proportional fairness; no exact means: at a load of 0.999999 they would take more than " +
		"29500000000000 states, for up to 15350564 jobs of a and 15350564 of b, and --states is " +
		"10000000\n"; status != 0 ||
		!strings.HasPrefix(stdout, want) || strings.Contains(stderr, "states") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// The examples of pools and traffic are read and have an answer under every policy, traffic at half
// its load.
func TestAllocateExamples(t *testing.T) {
	for folder, args := range map[string][]string{"pools": nil, "traffic": {"--dynamic", "--scale", "0.5"}} {
		files, err := filepath.Glob("examples/" + folder + "/*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", folder, files, err)
		}
		for _, file := range files {
			for _, policy := range fluid.Policies() {
				stdout, stderr, status := runAllocate(
					"", append([]string{"allocate", file, "--policy", string(policy)}, args...)...,
				)
				if status != 0 || stdout == "" || commandtest.ProgressLines.ReplaceAllString(stderr, "") != "" {
					t.Errorf("%s under %s: status %d, %s%s", file, policy, status, stdout, stderr)
				}
			}
		}
	}
}

// Two jobs share two resources.
const twoPool = `{"resources": [{"name": "one", "capacity": 1}, {"name": "two", "capacity": 1}], "jobs": [
	{"name": "a", "demand": {"one": 2, "two": 1}}, {"name": "b", "demand": {"one": 1, "two": 2}}]}`

var sharedTraffic = strings.NewReplacer(
	`"two": 1}`, `"two": 1}, "arrival_rate": "1/4"`, `"two": 2}`, `"two": 2}, "arrival_rate": "1/4"`,
).Replace(twoPool)

// Bad usage and bad input: status 2, one line on the standard error, nothing on the standard
// output, no file.
func TestAllocateBadUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"pool.json":    onePool,
		"traffic.json": oneTraffic,
		"weights.json": strings.Replace(onePool, `"count": 1`, `"weight": 2`, 1),
		"demand.json":  strings.Replace(onePool, `{"c<u>": 3}`, `{"c<v>": 3}`, 1),
		"never.json":   strings.Replace(strings.Replace(oneTraffic, `"1/4"`, "0", 1), "0.5", "0", 1),
		"counted.json": strings.Replace(onePool, `"c<u>": 1}`, `"c<u>": 1}, "count": 2`, 1),
		"empty.yaml":   "",
		"case.json":    strings.Replace(onePool, `{"c<u>": 3}`, `{"C<U>": 3}`, 1),
		"large.json":   strings.Replace(onePool, `{"c<u>": 3}`, `{"c<u>": 1e400}`, 1),
		"small.json":   strings.Replace(onePool, `{"c<u>": 3}`, `{"c<u>": "1e-400"}`, 1),
		"counts.json": strings.Replace(
			strings.Replace(twoPool, `"two": 1}`, `"two": 1}, "count": 1e6`, 1), `"two": 2}`,
			`"two": 2}, "count": 1e6`, 1,
		),
		"cluster.yaml": "servers: []",
		"declare.json": strings.Replace(oneTraffic, `{"cpu": 1}`, `{"cpu": 1}, "declared": {}`, 1),
		"shared.json":  sharedTraffic,
		"rank.json":    strings.Replace(onePool, `"count": 1`, `"priority": 2`, 1),
		"near.json":    strings.ReplaceAll(sharedTraffic, "1/4", "0.333333"),
	} {
		commandtest.WriteFile(t, name, text)
	}
	for _, c := range []struct{ args, want string }{
		{"", "pfq: allocate takes one POOL, a file or - for the standard input, not 0 arguments\n"},
		{"absent.json", "pfq: absent.json: no such file or directory\n"},
		{"-", "pfq: standard input: want a pool with resources and jobs, not an empty file\n"},
		{"- --dynamic", "pfq: standard input: want traffic with resources and jobs, not an empty file\n"},
		{"empty.yaml", "pfq: empty.yaml: want a pool with resources and jobs, not an empty file\n"},
		{
			"demand.json",
			`pfq: demand.json:2: jobs[1].demand["c<v>"] = the number 3: want a demand of one of the resources ` +
				`"c<u>"; did you mean "c<u>"?` + "\n",
		},
		{"traffic.json", "pfq: traffic.json:2: jobs[0].arrival_rate = a string \"1/4\": want one of the fields name, " +
			"demand, weight, count, max_tasks; " +
			"this one is for jobs that arrive and depart, with --dynamic\n"},
		{"counted.json --dynamic", "pfq: counted.json:2: jobs[0].count = the number 2: want one of the fields name, " +
			"demand, weight, arrival_rate, mean_size, " +
			"declared, max_tasks; this one is for permanent jobs, without --dynamic\n"},
		{"pool.json --dynamic", "pfq: pool.json:2: jobs[0].arrival_rate is missing: want a number >= 0\n"},
		{"pool.json --policy fair", "pfq: --policy = fair: want pf, drf, maxmin, bmf, bf or all\n"},
		{"pool.json --engine fast", "pfq: --engine = fast: want auto, float, enclose or exact"},
		{
			"pool.json --engine exact",
			"pfq: --engine = exact: want auto, float or enclose: proportional fairness is irrational in general\n",
		},
		{
			"pool.json --policy drf --engine enclose",
			"pfq: --engine = enclose: want auto, float or exact: the policy drf is rational\n",
		},
		{"weights.json --policy bf", "pfq: weights.json:2: jobs[1].weight = "},
		{"pool.json --tol 0", "pfq: --tol = 0: want a number >= 1e-300, or >= 1e-14 with --dynamic, and < 1\n"},
		{"pool.json --tol 0.2 --audit", "pfq: --tol = 0.2: want a number <= 0.1 with --audit\n"},
		{"pool.json --runs 5", "pfq: --runs needs --dynamic\n"},
		{"pool.json --states 5", "pfq: --states needs --dynamic\n"},
		{"traffic.json --dynamic --seed 5", "pfq: --seed needs --runs\n"},
		{"traffic.json --dynamic --runs 1", "pfq: --runs = 1: want an integer in 2..1000000\n"},
		{"traffic.json --dynamic --runs 5 --results pool.json", "pfq: --results = pool.json: not a directory\n"},
		{
			"never.json --dynamic --runs 5",
			"pfq: never.json: jobs = arrival rates that are all 0: want a class with an arrival rate > 0\n",
		},
		{"traffic.json --dynamic --engine exact", "pfq: --engine and --dynamic cannot be combined: means in random " +
			"traffic are computed in double precision only, with bounds\n"},
		{"traffic.json --dynamic --audit", "pfq: --audit and --dynamic cannot be combined: an audit covers one " +
			"allocation, and in random traffic every state has another\n"},
		{"traffic.json --dynamic --tol 1e-20", "pfq: --tol = 1e-20: want a number >= 1e-14 and < 1 with --dynamic\n"},
		{"shared.json --dynamic --states 9", "pfq: --states = 9: want more than "},
		{"near.json --dynamic", "pfq: near.json: jobs = a load of 0.999999: want a load farther from 1, as exact " +
			"means would take more than 29500000000000 states, for up to 15350564 jobs of a and 15350564 of b, and " +
			"--states is 10000000; or --runs 20 to simulate\n"},
		{"rank.json", "pfq: rank.json:2: jobs[1].priority = the number 2: want one of the fields name, demand, " +
			"weight, count, max_tasks; a larger weight gives a job a larger share, and pfq dispatch has priorities\n"},
		{
			"case.json",
			`pfq: case.json:2: jobs[1].demand["C<U>"] = the number 3: want a demand of one of the resources "c<u>"; ` +
				`did you mean "c<u>"?` + "\n",
		},
		{"large.json", `pfq: large.json:2: jobs[1].demand["c<u>"] = 1e400: want `},
		{"large.json --policy drf", `pfq: large.json:2: jobs[1].demand["c<u>"] = 1e400: want a demand with which `},
		{"small.json", `pfq: small.json:2: jobs[1].demand["c<u>"] = "1e-400": want `},
		{"counts.json --policy bf", "pfq: counts.json: jobs = a table of 1e+12 numbers: want at most 134217728 under " +
			"balanced fairness, the product of (count+1) over the different rows: lower "},
		{"counts.json --policy bf --engine exact", "pfq: counts.json: jobs = a table of 1e+12 numbers: want at most " +
			"4194304 for exact balanced fairness, the product of "},
		{"cluster.yaml", "pfq: cluster.yaml:1: servers = an array: want one of the fields resources, jobs; this " +
			"looks like a model for pfq solve\n"},
		{"declare.json --dynamic", "pfq: declare.json:2: jobs[0].declared.cpu is missing: want at least the demand, " +
			"1; a resource not named is 0\n"},
		{"pool.json --format xml", "pfq: --format = xml: want text, json or csv\n"},
		{"pool.json --policy drf -o absent/answer", "pfq: absent/answer: the folder absent does not exist\n"},
	} {
		stdout, stderr, status := runAllocate("", append([]string{"allocate"}, strings.Fields(c.args)...)...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 ||
			!strings.HasSuffix(stderr, "\n") {
			t.Errorf("pfq allocate %s: status %d, stdout %q, stderr %q, want %q",
				c.args, status, stdout, stderr, c.want)
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 16 {
		t.Errorf("files %v were left, error %v", files, err)
	}
}

func TestAllocateOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	want, _, _ := runAllocate(onePool, "allocate", "-", "--policy", "drf")
	if stdout, stderr, status := runAllocate(
		onePool, "allocate", "-", "--policy", "drf", "-o", "answer",
	); status != 0 ||
		stdout+stderr != "" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	if got, err := os.ReadFile("answer"); err != nil || string(got) != want || want == "" {
		t.Errorf("%v, %q", err, got)
	}
}

// Percentiles match sim.Run, of all jobs and of each class; a class without arrivals has none.
func TestAllocatePercentiles(t *testing.T) {
	const args = "--dynamic --policy drf --runs 20 --jumps 1e4 --percentiles 50,90"
	answer := allocateJSON(t, oneTraffic, args)
	m, err := traffic.Read(strings.NewReader(oneTraffic))
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(
		t.Context(), pool.Divisible{Traffic: *m, Policy: fluid.DRF},
		sim.Settings{Runs: 20, Jumps: 1e4, Seed: 1, Levels: []float64{0.5, 0.9}},
	)
	if err != nil {
		t.Fatal(err)
	}
	quantiles := func(kind sim.Kind, index int) any {
		all := map[string]any{"p50": nil, "p90": nil}
		for name, level := range map[string]float64{"p50": 0.5, "p90": 0.9} {
			if q := r.Quantile(kind, index, level); q != nil {
				all[name] = map[string]any{
					"estimate":   q.Value,
					"low":        q.Low,
					"high":       q.High,
					"confidence": 0.95,
					"jobs":       q.Jobs,
				}
			}
		}
		return all
	}
	want := []any{
		quantiles(sim.OfAll, 0), quantiles(sim.OfClass, 0), quantiles(sim.OfClass, 1),
		map[string]any{"p50": nil, "p90": nil},
	}
	got := []any{answer["delay"]}
	for _, class := range answer["classes"].([]any) {
		got = append(got, class.(map[string]any)["simulated"].(map[string]any)["delay"])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	stdout, _, _ := runAllocate(oneTraffic, append([]string{"allocate", "-"}, strings.Fields(args)...)...)
	if !strings.Contains(stdout, "class        delay p50 ") || !strings.Contains(stdout, "all classes  ") {
		t.Error(stdout)
	}
	for args, want := range map[string]string{
		"--dynamic --percentiles 50": "pfq: --percentiles needs --runs\n",
		"--dynamic --runs 2 --percentiles 50,50.0": "pfq: --percentiles[1] = 50: want each percentile once; " +
			"--percentiles[0] is the same\n",
	} {
		if _, stderr, status := runAllocate(
			oneTraffic, append([]string{"allocate", "-"}, strings.Fields(args)...)...,
		); status != 2 ||
			stderr != want {
			t.Errorf("%s: status %d, %s", args, status, stderr)
		}
	}
}
