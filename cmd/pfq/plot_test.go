package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"productform/cmd/pfq/internal/commandtest"
)

// unitAtEnd is the unit in the header of a series.
var unitAtEnd = regexp.MustCompile(`(, .*) \([^()]*\)$`)

// plotted returns the numbers of a picture as columns by panel and series, in the order of the
// horizontal axis.
func plotted(t *testing.T, stdin, line string) map[string][]float64 {
	t.Helper()
	stdout, stderr, status := pfq(stdin, strings.Fields("plot "+line+" --format csv")...)
	if status != 0 {
		t.Fatalf("plot %s: status %d, %s", line, status, stderr)
	}
	records, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := make(map[string][]float64)
	for k, name := range records[0] {
		bound := ""
		for _, b := range []string{
			", lower bound", ", upper bound", ", low end of 90 % interval", ", high end of 90 % interval",
		} {
			if before, ok := strings.CutSuffix(name, b); ok {
				name, bound = before, b
			}
		}
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "target: "), ": ") // a panel may be named after its target
		name = unitAtEnd.ReplaceAllString(name, "$1") + bound
		for _, record := range records[1:] {
			if record[k] == "" {
				continue
			}
			v, err := strconv.ParseFloat(record[k], 64)
			if err != nil {
				t.Fatal(err)
			}
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}

// answers runs a command whose answer is a list in JSON.
func answers(t *testing.T, stdin, line string) (list []map[string]any) {
	t.Helper()
	stdout, stderr, _ := pfq(stdin, strings.Fields(line+" --format json")...)
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatalf("%s: %v, %s", line, err, stderr)
	}
	return list
}

// rows returns a list of an answer.
func rows(answer map[string]any, field string) (list []map[string]any) {
	for _, row := range answer[field].([]any) {
		list = append(list, row.(map[string]any))
	}
	return list
}

// A wanted is the expected content of a column: the numbers from another command.
type wanted map[string][]float64

func (w wanted) add(column string, v any) {
	if number, ok := v.(float64); ok {
		w[column] = append(w[column], number)
	}
}

// check compares each expected column, to the last digit.
func (w wanted) check(t *testing.T, got map[string][]float64, what string) {
	t.Helper()
	if len(w) == 0 {
		t.Errorf("%s: nothing to compare", what)
	}
	for column, numbers := range w {
		if !slices.Equal(got[column], numbers) {
			t.Errorf("%s: %s: %v, want %v", what, column, got[column], numbers)
		}
	}
}

// Pictures of a plan show the numbers of pfq plan: costs, mean delays, measures with targets, and
// purchases.
func TestPlotPlan(t *testing.T) {
	plan := string(readExample("shop-plan"))
	for _, c := range []struct{ edit, flags, axis, first string }{
		{"", "--find frontier", "cost (as in the file)", "plans that are best for their cost, least mean delay"},
		{
			"\nbudget: 10\n", "--find frontier", "cost (as in the file)",
			"plans that are best for their cost, least mean delay",
		},
		{
			"\nminimize: web\n", "--find frontier", "cost (as in the file)",
			"plans that are best for their cost, least mean delay",
		},
		{
			"", "--find growth --scale 0.5:3:0.5", "load (times the arrival rates at scale 1.5)",
			"cheapest plans, cheapest plan",
		},
		{
			"", "--find growth --scale 2,4", "load (times the arrival rates at scale 1.5)",
			"cheapest plans, cheapest plan",
		},
	} {
		got, want := plotted(t, plan+c.edit, "- "+c.flags), wanted{}
		for _, a := range answers(t, plan+c.edit, "plan - "+c.flags) {
			if a["found"] != true {
				continue
			}
			if strings.Contains(c.flags, "growth") {
				want.add(c.axis, a["scale"])
				want.add(c.first, a["cost"])
			} else {
				want.add(c.axis, a["cost"])
				want.add(c.first, a["mean_delay"])
			}
			for _, target := range rows(a, "targets") {
				want.add(target["target"].(string)+", with the plan", target["plan"])
			}
			choice := a["choice"].(map[string]any)
			for k, name := range []string{"small, of 4", "big, of 2", "spare, of 2"} {
				want.add("what is bought, "+name, choice["steps"].([]any)[k])
			}
			want.add("what is bought, reports:big", float64(len(choice["edges"].([]any))))
		}
		want.check(t, got, c.edit+c.flags)
	}
}

// Service levels have no unit, but mean delays have one. A service without a frontier is rejected,
// and the error suggests a command that works.
func TestPlotServiceLevels(t *testing.T) {
	plan := string(readExample("centre-plan")) + "\n"
	timed := strings.Replace(plan, "targets:\n", "targets:\n  - {class: english, mean_waiting: 5}\n", 1)
	stdout, stderr, status := pfq(timed, "plot", "-", "--find", "growth", "--scale", "0.5,0.6", "--format", "csv")
	if status != 0 || strings.Contains(stdout, "service level (units of time)") ||
		!strings.Contains(stdout, "mean waiting (units of time)") || strings.Count(stdout, ": service level\"") != 3 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	plan = strings.Replace(plan, "all, count: 2, capacity: 1", "all, count: 2, capacity: 2", 1)
	for _, flags := range []string{"", " --find load"} {
		_, stderr, status := pfq(plan, strings.Fields("plot -"+flags)...)
		if status != 2 || !strings.HasPrefix(stderr, `pfq: standard input:5: model.service = "one": want all, or `+
			`servers of one speed`) ||
			!strings.HasSuffix(stderr, "; --find growth --scale 1,1.2 draws the smallest costs\n") {
			t.Errorf("status %d, %s", status, stderr)
		}
	}
}

// The drawn greatest loads equal those of pfq plan for the plans of the frontier.
func TestPlotGreatestLoad(t *testing.T) {
	plan := string(readExample("shop-plan")) + "\nbudget: 6\n"
	got, want := plotted(t, plan, "- --find load"), wanted{}
	for _, a := range answers(t, plan, "plan - --find frontier") {
		var choice []string
		for _, b := range rows(a, "buy") {
			word := b["name"].(string)
			if b["kind"] != "edge" {
				word += fmt.Sprintf("=%v", b["steps"])
			}
			choice = append(choice, word)
		}
		load := program.JSON(t, plan, "plan - --find load --choice "+strings.Join(choice, ","))
		want.add("greatest load of these plans, targets hold", load["holds_at"])
		for _, target := range rows(a, "targets") {
			if target["target"] == "load factor" {
				want.add("greatest load of these plans, stable", target["plan"])
			}
		}
	}
	want.check(t, got, "greatest loads")
}

// Pictures of a pool show the numbers of pfq allocate.
func TestPlotPool(t *testing.T) {
	traffic := string(readExample("two-classes"))
	got, want := plotted(t, traffic, "- --policy bf --show delay,jobs,rate --scale 0.5,1,2"), wanted{}
	for _, a := range answers(t, traffic, "allocate - --dynamic --policy bf --scale 0.5,1") {
		for _, c := range rows(a, "classes") {
			want.add("mean delay, "+c["name"].(string), c["mean_delay"])
			want.add("mean jobs, "+c["name"].(string), c["mean_jobs"])
			want.add("service rate, "+c["name"].(string), c["service_rate"])
		}
	}
	want.check(t, got, "bf")
	got, want = plotted(t, traffic, "- --policy all --scale 0.25,0.5"), wanted{}
	for _, a := range answers(t, traffic, "allocate - --dynamic --policy all --scale 0.25,0.5") {
		for _, policy := range rows(a, "policies") {
			for _, c := range rows(policy, "classes") {
				want.add(fmt.Sprintf("mean delay of %s, %s", c["name"], policy["policy"]), c["mean_delay"])
				want.add(fmt.Sprintf("service rate of %s, %s", c["name"], policy["policy"]), c["service_rate"])
			}
		}
	}
	want.check(t, got, "all")
}

// In a static pool, the drawn tasks and utilizations equal those of the pool with the changed
// capacity.
func TestPlotPoolAtRest(t *testing.T) {
	pool := string(readExample("two-jobs"))
	got, want := plotted(t, pool, "- --policy all --show tasks,utilization --scale 0.5,1,3/2"), wanted{}
	one, wantOne := plotted(t, pool, "- --policy drf --scale 0.5,1,3/2"), wanted{}
	for _, change := range []struct {
		resource, capacity string
		values             []string
	}{{"cpu", "9", []string{"4.5", "9", "13.5"}}, {"ram", "18", []string{"9", "18", "27"}}} {
		for _, value := range change.values {
			text := strings.Replace(
				pool, "{name: "+change.resource+", capacity: "+change.capacity+"}",
				"{name: "+change.resource+", capacity: "+value+"}", 1,
			)
			for _, policy := range rows(program.JSON(t, text, "allocate - --policy all"), "policies") {
				for _, j := range rows(policy, "jobs") {
					want.add(
						fmt.Sprintf("tasks of %s, capacity of %s, %s", j["name"], change.resource, policy["policy"]),
						j["tasks"],
					)
					if policy["policy"] == "drf" {
						wantOne.add(fmt.Sprintf("tasks, capacity of %s, %s", change.resource, j["name"]), j["tasks"])
					}
				}
				for _, r := range rows(policy, "resources") {
					want.add(fmt.Sprintf("utilization of %s, capacity of %s, %s",
						r["name"], change.resource, policy["policy"]), r["utilization"])
				}
			}
		}
	}
	want.check(t, got, "all")
	wantOne.check(t, one, "drf")
}

// Pictures of TAGS hosts show the numbers of pfq tags; at loads without cutoffs, those of the other
// policies.
func TestPlotTAGS(t *testing.T) {
	for _, c := range []struct {
		flags, measure, panel string
		loads                 []string
	}{
		{
			"--hosts 2 --sizes lognormal:9 --mean 1", "mean_slowdown", "mean slowdown under TAGS and its rivals",
			[]string{"0.3", "0.9"},
		},
		{
			"--hosts 3 --alpha 1.1 --max 1e6 --min 1 --objective waiting --speeds 2,1,1", "mean_waiting",
			"mean waiting time under TAGS and its rivals", []string{"0.25", "0.5"},
		},
		{"--hosts 2 --sizes exponential --mean 2 --objective fairness", "mean_slowdown", "", []string{"0.4"}},
	} {
		if c.panel == "" { // the mean of 1/size is infinite: rejected, as by pfq tags
			if bad := program.Refusal(t, "", strings.Fields("plot tags "+c.flags+
				" --load 0.4")...); bad.Path != "--objective" {
				t.Errorf("%+v", bad)
			}
			continue
		}
		got, want := plotted(t, "", "tags "+c.flags+" --load "+strings.Join(c.loads, ",")), wanted{}
		for _, load := range c.loads {
			stdout, _, _ := pfq("", strings.Fields("tags "+c.flags+" --load "+load+" --runs 0 --format json")...)
			a := commandtest.ParseJSON(t, stdout)
			cutoffs, _ := a["cutoffs"].([]any)
			for i, cutoff := range cutoffs {
				want.add(fmt.Sprintf("best cutoffs, of host %d", i+1), cutoff)
			}
			for _, h := range rows(a, "hosts") {
				want.add(fmt.Sprintf("loads of the hosts under TAGS, host %v", h["host"]), h["load"])
			}
			for _, p := range rows(a, "policies") {
				name := c.panel + ", " + p["name"].(string)
				want.add(name, p[c.measure])
				want.add(name+", lower bound", p[c.measure+"_low"])
				want.add(name+", upper bound", p[c.measure+"_high"])
			}
		}
		want.check(t, got, c.flags)
	}
}

// Simulated points match the commands that simulate, with their intervals.
func TestPlotSimulated(t *testing.T) {
	const runs = " --runs 3 --jumps 2000 --seed 7 --confidence 0.9"
	add := func(w wanted, column string, estimate any) {
		e, ok := estimate.(map[string]any)
		if !ok {
			return
		}
		mean, half := e["mean"].(float64), e["half_width"].(float64)
		w.add(column, mean)
		w.add(column+", low end of 90 % interval", mean-half)
		w.add(column+", high end of 90 % interval", mean+half)
	}
	traffic := string(readExample("two-classes"))
	got, want := plotted(t, traffic, "- --policy bf --scale 0.5,1"+runs), wanted{}
	for _, a := range answers(t, traffic, "allocate - --dynamic --policy bf --scale 0.5,1"+runs) {
		for _, c := range rows(a, "classes") {
			simulated := c["simulated"].(map[string]any)
			add(want, "mean delay, simulated, "+c["name"].(string), simulated["mean_delay"])
			add(want, "service rate, simulated, "+c["name"].(string), simulated["service_rate"])
		}
	}
	want.check(t, got, "pool")
	const farm = "tags --hosts 2 --sizes lognormal:4 --mean 1"
	got, want = plotted(t, "", farm+" --load 0.3,0.9"+runs), wanted{}
	for _, load := range []string{"0.3", "0.9"} {
		stdout, _, _ := pfq("", strings.Fields(farm+" --load "+load+runs+" --format json")...)
		for _, p := range rows(commandtest.ParseJSON(t, stdout), "policies") {
			if simulated, ok := p["simulated"].(map[string]any); ok {
				add(
					want, "mean slowdown under TAGS and its rivals, simulated, "+p["name"].(string),
					simulated["mean_slowdown"],
				)
			}
		}
	}
	want.check(t, got, "farm")
}

// Pictures of all kinds are drawn in all formats, identically each time. The tests of their numbers
// read CSV.
func TestPlotFormats(t *testing.T) {
	dir := t.TempDir()
	plan := string(readExample("shop-plan"))
	for _, c := range []struct{ stdin, line, png string }{
		{plan, "- --find growth --scale 1,2,3,4", ""}, {plan + "\nbudget: 4\n", "- --find load", "png"},
		{plan, "- --limit 200", ""},
		{string(readExample("two-classes")), "- --policy bf --scale 0.5,1 --runs 2 --jumps 2000", ""},
		{string(readExample("two-jobs")), "- --scale 0.5,1", ""},
		{"", "tags --hosts 2 --sizes lognormal:4 --mean 1 --load 0.5,0.9 --runs 2 --jumps 2000", ""},
		{"", "tags --hosts 1 --sizes exponential --mean 1 --objective waiting --load 0.5", ""},
	} {
		for format, begin := range map[string]string{"png": "\x89PNG", "svg": "<?xml", "pdf": "%PDF"} {
			if format == "png" && c.png == "" { // these take long
				continue
			}
			var before []byte
			for k := range map[bool]int{true: 2, false: 1}[format == "svg"] {
				name := filepath.Join(dir, fmt.Sprintf("p%d.%s", k, format))
				if stdout, stderr, status := pfq(
					c.stdin, append(strings.Fields("plot "+c.line), "-o", name)...,
				); status != 0 ||
					stdout != "" {
					t.Fatalf("%s, %s: status %d, %s", c.line, format, status, stderr)
				}
				text, err := os.ReadFile(name)
				if err != nil || !strings.HasPrefix(string(text), begin) {
					t.Errorf("%s, %s: %v, %.20q", c.line, format, err, text)
				}
				if k == 1 && !slices.Equal(text, before) {
					t.Errorf("%s, %s: bytes differ", c.line, format)
				}
				before = text
			}
		}
	}
}

// Pictures of clusters that are not solved by balanced fairness show the numbers of pfq solve.
func TestPlotServices(t *testing.T) {
	for _, c := range []struct{ example, scale, class, flags, times string }{
		{"gpu-pool", "0.5,1.25", "team-a", "waiting,waits,delay,jobs,queue,utilization",
			"--percentiles 50,95 --within 0.1,1"},
		{"hotline", "0.5,1.25", "english", "waiting,waits,abandons,delay,jobs,queue,utilization",
			"--percentiles 95 --within 0.25"},
		{"timeouts", "0.5,0.75", "read", "delay,times-out,jobs", ""},
		{"training", "0.5,1.25", "notebook", "waiting,waits,delay,jobs,queue,utilization", ""},
	} {
		model := string(readExample(c.example))
		for _, scale := range []string{c.scale, c.class + "=0.5,0.75"} {
			line := "- --scale " + scale + " " + c.times
			got, want := plotted(t, model, line+" --show "+c.flags), wanted{}
			for _, a := range answers(t, model, "solve "+line) {
				for _, row := range append(rows(a, "classes"), optionalRows(a, "servers")...) {
					addService(want, c.flags, row)
				}
			}
			want.check(t, got, c.example+" "+line)
		}
	}
}

// addService adds the numbers of one row of an answer, with percentiles and service levels.
func addService(want wanted, show string, row map[string]any) {
	name := ", " + row["name"].(string)
	fields := map[string]string{
		"waiting": "mean_waiting", "waits": "wait_probability", "abandons": "abandon_probability",
		"delay":     "mean_delay",
		"times-out": "timeout_probability", "jobs": "mean_jobs", "queue": "mean_queue", "utilization": "utilization",
	}
	for word := range strings.SplitSeq(show, ",") {
		want.add(strings.ReplaceAll(fields[word], "_", " ")+name, row[fields[word]])
	}
	if waiting, ok := row["waiting"].(map[string]any); ok {
		for p, v := range waiting {
			want.add(p+" of the waiting time"+name, v)
		}
	}
	for _, level := range optionalRows(row, "within") {
		at := fmt.Sprint(level["time"]) + name
		if served, ok := level["served"]; ok {
			want.add("probability of service within "+at, served)
		} else {
			want.add("probability of waiting at most "+at, level["waiting"])
		}
	}
}

// optionalRows returns a list of an answer, nil if it does not exist.
func optionalRows(answer map[string]any, field string) []map[string]any {
	if answer[field] == nil {
		return nil
	}
	return rows(answer, field)
}

// Pictures against the number of servers show the numbers of clusters of these sizes, and shade the
// sizes at which a cluster is unstable. Bars show who serves whom.
func TestPlotCount(t *testing.T) {
	model := func(count int) string {
		return fmt.Sprintf("service: one\nservers: [{name: agents, count: %d, capacity: 1}, {name: expert, "+
			"capacity: 2}]\n"+
			"classes:\n- {name: easy, arrival_rate: 4, servers: [agents]}\n"+
			"- {name: hard, arrival_rate: 1, servers: [agents, expert]}\n", count)
	}
	got, want := plotted(t, model(7), "- --count agents=3:9 --show waiting,served-by"), wanted{}
	for n := 5; n <= 9; n++ {
		stdout, _, _ := pfq(model(n), "solve", "-", "--format", "json")
		var a map[string]any
		if err := json.Unmarshal([]byte(stdout), &a); err != nil {
			t.Fatal(err)
		}
		want.add("number of servers in agents", float64(n))
		for _, row := range rows(a, "classes") {
			want.add("mean waiting, "+row["name"].(string), row["mean_waiting"])
			if n == 9 {
				for _, by := range rows(row, "served_by") {
					want.add("who serves whom at number of servers in agents 9, "+by["server"].(string), by["share"])
				}
			}
		}
	}
	want["who serves whom at number of servers in agents 9, expert"] = append([]float64{0},
		want["who serves whom at number of servers in agents 9, expert"]...)
	want.check(t, got, "count")
}

// Pictures of networks and of systems with losses show the numbers of pfq network.
func TestPlotNetworks(t *testing.T) {
	for _, c := range []struct{ example, flags string }{
		{"interactive", "--population 10:60:10"}, {"batch", "--population short=5:20:5"},
		{"call-centre", "--scale 0.5,1,2"}, {"trunks", "--scale 0.5,1,2"}, {"tokens", "--scale 0.5,1,2"},
		{"reentrant", "--scale 0.5,1"},
	} {
		model, want := string(readExample(c.example)), wanted{}
		for _, a := range answers(t, model, "network - "+c.flags) {
			for _, row := range optionalRows(a, "chains") {
				var names []string
				for _, class := range row["classes"].([]any) {
					names = append(names, class.(string))
				}
				want.add("throughput, "+strings.Join(names, ", "), row["throughput"])
				want.add("mean response time, "+strings.Join(names, ", "), row["mean_response_time"])
			}
			for _, row := range optionalRows(a, "classes") {
				want.add("blocking probability, "+row["name"].(string), row["blocking"])
				want.add("throughput, "+row["name"].(string), row["throughput"])
			}
			for _, row := range append(optionalRows(a, "stations"), optionalRows(a, "servers")...) {
				want.add("utilization, "+row["name"].(string), row["utilization"])
			}
		}
		want.check(t, plotted(t, model, "- "+c.flags), c.example)
	}
	stdout, stderr, status := pfq(string(readExample("batch")), "plot", "-")
	if status != 2 || stdout != "" || !strings.Contains(stderr, "--population is missing: want CLASS=FROM:TO") {
		t.Errorf("two closed classes: status %d, %s%s", status, stdout, stderr)
	}
}

// An error about a model with one of the numbers of --count names this number.
func TestPlotCountRejected(t *testing.T) {
	stdout, stderr, status := pfq(string(readExample("training")), strings.Fields("plot - --count gpu=31:40")...)
	if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "pfq: --count = gpu=31: want a number of ") {
		t.Errorf("status %d, %q %s", status, stdout, stderr)
	}
}
