package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"productform/cmd/pfq/internal/commandtest"
	"productform/dispatch/swf"
	"productform/traces"
)

// sitesLog writes 600 jobs of the built-in log to the file log.csv, with 25 users, two groups, and
// accounts of two jobs in three, and changes to its folder.
func sitesLog(t *testing.T) {
	t.Helper()
	from, err := traces.Open(traces.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	reader := swf.NewReader(from, "log")
	text := "job_id,submit,run_time,cpus,user,group,account,queue\n"
	for jobs := range 600 {
		j, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		account := []string{"", "physics", `"bio ""A"", B"`}[jobs%3]
		text += fmt.Sprintf("%d,%g,%g,%d,u%d,%d,%s,q%d\n", j.Number, j.Submit, j.RunTime, j.Processors, jobs%25, jobs%2,
			account, jobs%4)
	}
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "log.csv", text)
}

// readTable returns the lines of a CSV file by the names of its columns.
func readTable(t *testing.T, file string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for k, cell := range line {
			row[lines[0][k]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// The outcome of each group follows from --records, whose columns name the group of each job.
func TestDispatchByMatchesRecords(t *testing.T) {
	sitesLog(t)
	numberOf := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ policy, by string }{
		{"edf", "account"}, {"easy", "account"}, {"sjf", "user"}, {"priority", "group"}, {"fcfs", "queue"},
	} {
		_, stderr, status := runDispatch("", strings.Fields("dispatch log.csv --workers 400 --gap-scale 0.2 --format "+
			"json -o answer.json --records jobs.csv --policy "+c.policy+" --by "+c.by)...)
		answer, err := os.ReadFile("answer.json")
		if status != 0 || err != nil {
			t.Fatalf("%v: status %d, %s, %v", c, status, stderr, err)
		}
		work := func(row map[string]string) float64 {
			if text, ok := row["work"]; ok {
				return numberOf(text)
			}
			return numberOf(row["run_time"]) * numberOf(row["workers"])
		}
		groups, total := map[any][]map[string]string{}, 0.0
		for _, row := range readTable(t, "jobs.csv") {
			var name any
			if row[c.by] != "" {
				name = row[c.by]
			}
			groups[name], total = append(groups[name], row), total+work(row)
		}
		list := commandtest.ParseJSON(t, string(answer))["policies"].([]any)[0].(map[string]any)[c.by+"s"].([]any)
		before := math.Inf(1)
		for _, g := range list {
			got := g.(map[string]any)
			of, jobs := groups[got[c.by]], got["job_count"].(float64)
			if int(jobs) != len(of) || jobs > before {
				t.Fatalf("%v: %v has %v jobs, want %d, at most %v", c, got[c.by], jobs, len(of), before)
			}
			before = jobs
			var waits, delays, slowdowns []float64
			missed, share := 0.0, 0.0
			for _, row := range of {
				waits = append(waits, numberOf(row["start"])-numberOf(row["submit"]))
				delays = append(delays, numberOf(row["delay"]))
				if row["slowdown"] != "" {
					slowdowns = append(slowdowns, numberOf(row["slowdown"]))
				}
				if row["missed"] != "0" {
					missed++
				}
				share += work(row) / total
			}
			if got["missed"] != missed || got["missed_part"] != missed/jobs {
				t.Errorf("%v: %v missed, want %v of %v", c, got["missed"], missed, jobs)
			}
			commandtest.Near(t, "work_share", got["work_share"], share, 1e-12) // rounding in a sum of 600 terms
			for name, values := range map[string][]float64{"waiting": waits, "delay": delays, "slowdown": slowdowns} {
				checkSpread(t, fmt.Sprint(c, got[c.by], name), got[name].(map[string]any), values)
			}
		}
		if len(list) != len(groups) {
			t.Errorf("%v: %d groups, want %d", c, len(list), len(groups))
		}
	}
}

// checkSpread compares a spread with values, whose mean is a sum of at most 600 terms.
func checkSpread(t *testing.T, name string, got map[string]any, values []float64) {
	t.Helper()
	slices.Sort(values)
	if len(values) == 0 {
		if got["mean"] != nil || got["p95"] != nil || got["max"] != nil {
			t.Errorf("%s of no values: %v", name, got)
		}
		return
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	commandtest.Near(t, name+" mean", got["mean"], sum/float64(len(values)), 1e-12)
	p95 := values[int(math.Ceil(0.95*float64(len(values))))-1]
	if got["p95"] != p95 || got["max"] != values[len(values)-1] {
		t.Errorf("%s: %v, want p95 %v, max %v", name, got, p95, values[len(values)-1])
	}
}

// Text has the groups with the most jobs, CSV a line per group, and unknown groups are empty there.
func TestDispatchByFormats(t *testing.T) {
	sitesLog(t)
	run := func(args string) (stdout, stderr string, status int) {
		return runDispatch("", strings.Fields("dispatch log.csv --workers 400 "+args)...)
	}
	stdout, stderr, status := run("--policy easy,edf --by account")
	if status != 0 ||
		strings.Count(stdout, "\npolicy easy/fcfs by account, most jobs first\naccount     jobs  ") != 1 ||
		strings.Count(stdout, "\n-           200 ") != 2 || strings.Count(stdout, "\nbio \"A\", B  200 ") != 2 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	stdout, stderr, status = run("--policy edf --by user --measures all")
	if status != 0 || !strings.Contains(stdout, "\nand 5 more; JSON and CSV have all\n") ||
		!strings.Contains(stdout, "  waiting max") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	for line := range strings.SplitSeq(stdout, "\n") {
		if len(line) > 100 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	stdout, _, _ = run("--policy easy,edf --by account --format csv")
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	var names []string
	for _, row := range rows {
		names = append(names, strings.Join(row[:3], "|"))
	}
	want := []string{
		"kind|policy|account", "policy|easy/fcfs|", "policy|edf|", "account|easy/fcfs|", `account|easy/fcfs|bio "A", B`,
		"account|easy/fcfs|physics", "account|edf|", `account|edf|bio "A", B`, "account|edf|physics",
	}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %q, want %q", err, names, want)
	}
	if _, err := strconv.ParseFloat(rows[3][slices.Index(rows[0], "waiting_p95")], 64); err != nil {
		t.Error(err)
	}
}
