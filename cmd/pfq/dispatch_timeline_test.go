package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"productform/cmd/pfq/internal/commandtest"
)

// The timeline of a run whose workers leave for good ends there, without jobs submitted later.
// Until 5 s the only worker runs a job of 100 tasks.
func TestTimelineStranded(t *testing.T) {
	const log = `1 0 -1 1 100 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
2 10 -1 1 1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
3 1000 -1 1 1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
4 2000 -1 1 3 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
`
	stdout, _, status := runDispatch(
		log, "dispatch", "-", "--workers", "1", "--policy", "edf", "--outages", "1@5-", "--timeline",
	)
	bar := func(text string) string { return strings.Repeat(text, 50) } // 5 s in columns of 0.1 s
	for _, line := range []string{
		"workers busy         1  " + bar("█"), "workers down         1  " + bar("."),
		"jobs present         1  " + bar("█"), "worker 1                " + bar("A"),
	} {
		if !strings.Contains(stdout, "\n"+line+"\n") || status != 1 {
			t.Errorf("status %d, no %q in %s", status, line, stdout)
		}
	}
}

// No line of a timeline has more than 100 characters, for all speeds, times and numbers.
func TestTimelineFits(t *testing.T) {
	for _, args := range []string{
		"--workers 4 --heterogeneous 3x1.23456e-50,1e50 --outages 1@1-2",
		"--workers 40 --gap-scale 1e48", "--workers 4 --time-scale 1e-48 --gap-scale 1e-48",
		"--workers 4 --time-scale 7.7", "--workers 3 --gap-scale 2.53",
	} {
		log := commandtest.Example(t, "logs/five-jobs.swf")
		stdout, stderr, status := runDispatch(
			log, append(strings.Fields("dispatch - --policy edf --timeline"), strings.Fields(args)...)...,
		)
		_, drawn, _ := strings.Cut(stdout, "\n\ntimeline: ")
		drawn, _, _ = strings.Cut(drawn, "\n\nletter")
		if status != 0 || !strings.Contains(drawn, "worker 3") {
			t.Fatalf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
		for line := range strings.SplitSeq("timeline: "+drawn, "\n") {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s: %d characters, want at most 100: %s", args, n, line)
			}
		}
	}
}

// With more than 40 workers there are only bars; with more than 50 jobs letters are reused.
func TestTimelineManyWorkersManyJobs(t *testing.T) {
	stdout, _, status := runDispatch(
		"", "dispatch", "SDSC-Par-1996", "--sample", "51", "--workers", "41", "--policy", "edf", "--timeline",
	)
	if status != 0 || strings.Contains(stdout, "worker 1 ") || strings.Contains(stdout, "letter") ||
		!strings.Contains(stdout, "\ntasks waiting ") {
		t.Errorf("status %d, %s", status, stdout)
	}
	stdout, _, status = runDispatch(
		"", "dispatch", "SDSC-Par-1996", "--sample", "51", "--workers", "40", "--policy", "edf", "--timeline",
	)
	if status != 0 || !strings.Contains(stdout, "worker 40 ") || strings.Contains(stdout, "letter  job") ||
		!strings.Contains(stdout, "\nletters repeat after 50 jobs, in order of submission\n") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

// Each policy of a table has the same timeline as alone.
func TestTimelinesOfAllPolicies(t *testing.T) {
	log := commandtest.Example(t, "logs/five-jobs.swf")
	all, _, status := runDispatch(log, "dispatch", "-", "--workers", "3", "--timeline")
	parts := strings.Split(all, "\ntimeline: ")
	if status != 0 || len(parts) != 7 {
		t.Fatalf("status %d, %d timelines in %s", status, len(parts)-1, all)
	}
	for k, policy := range []string{"priority", "proportion", "workload", "deadline", "deadline/deadline", "edf"} {
		one, _, _ := runDispatch(
			log, append(strings.Fields("dispatch - --workers 3 --timeline --policy"), strings.Fields(policy)...)...,
		)
		title, _, _ := strings.Cut(one, "\n")
		_, want, _ := strings.Cut(one, "\ntimeline: ")
		if !strings.HasSuffix(parts[k], "\n\n"+title) || !strings.HasPrefix(parts[k+1]+"\n", want) {
			t.Errorf("%s: %q, then %s, want %s", policy, parts[k], parts[k+1], want)
		}
	}
}
