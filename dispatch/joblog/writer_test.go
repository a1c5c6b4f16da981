package joblog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/dispatch/swf"
)

// readJobs reads a log with accounts.
func readJobs(text string) (jobs []Job, r *Reader, err error) {
	r = NewReader(strings.NewReader(text), "log", Dialect{})
	for job, err := range r.All() {
		if err != nil {
			return nil, r, err
		}
		jobs = append(jobs, job)
	}
	return jobs, r, nil
}

// writeCSV writes a log in CSV.
func writeCSV(header []string, jobs []Job, names *Reader) (string, error) {
	var text bytes.Buffer
	w := NewWriter(&text, names)
	for _, line := range header {
		if err := w.Comment(line); err != nil {
			return "", err
		}
	}
	for _, j := range jobs {
		if err := w.Write(j); err != nil {
			return "", err
		}
	}
	err := w.Flush()
	return text.String(), err
}

// writeSWF writes a log in Standard Workload Format.
func writeSWF(header []string, jobs []Job) (string, error) {
	var text bytes.Buffer
	w := swf.NewWriter(&text)
	for _, line := range header {
		if err := w.Comment(line); err != nil {
			return "", err
		}
	}
	for _, j := range jobs {
		if err := w.Write(j.Job); err != nil {
			return "", err
		}
	}
	err := w.Flush()
	return text.String(), err
}

// checkCSV checks that a log written in CSV is read back with the same comments, jobs and names.
func checkCSV(t rapid.TB, header []string, jobs []Job, names *Reader) {
	t.Helper()
	text, err := writeCSV(header, jobs, names)
	if err != nil {
		t.Fatal(err)
	}
	got, r, err := readJobs(text)
	if err != nil || !slices.Equal(got, jobs) || !slices.Equal(r.Header(), header) {
		t.Fatalf("error %v, %s%s", err, cmp.Diff(jobs, got), cmp.Diff(header, r.Header()))
	}
	if names == nil {
		return
	}
	for _, j := range jobs {
		for name, number := range map[string]int64{"user": j.User, "group": j.Group, "account": j.Account,
			"executable": j.Executable, "queue": j.Queue, "partition": j.Partition} {
			if got, want := r.Name(name, number), names.Name(name, number); got != want {
				t.Fatalf("%s %d = %q, want %q", name, number, got, want)
			}
		}
	}
}

// A log in Standard Workload Format is the same after it was written in CSV and back, with its
// comments.
func TestCSVKeepsSWF(t *testing.T) {
	check := func(t rapid.TB, header []string, jobs []Job) {
		text, err := writeSWF(header, jobs)
		if err != nil {
			t.Fatal(err)
		}
		jobs, r, err := readJobs(text)
		if err != nil {
			t.Fatal(err)
		}
		checkCSV(t, r.Header(), jobs, r)
		csv, err := writeCSV(r.Header(), jobs, r)
		if err != nil {
			t.Fatal(err)
		}
		again, r, err := readJobs(csv)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := writeSWF(r.Header(), again); err != nil || back != text {
			t.Fatalf("error %v, %s", err, cmp.Diff(text, back))
		}
	}
	var real []Job
	for _, j := range shipped(t) {
		real = append(real, Job{j, swf.Unknown})
	}
	check(t, []string{"; MaxProcs: 400", "  ; indented  ", ";" + strings.Repeat("long", 10_000), ";" +
		strings.Repeat("long", 10_000)}, real)
	rapid.Check(t, func(t *rapid.T) {
		comment := rapid.Custom(func(t *rapid.T) string {
			return rapid.StringMatching(`[ \t]{0,2};[^\n\x00]{0,9}[^\r\n\x00]`).Draw(t, "comment")
		})
		check(t, rapid.SliceOfN(comment, 0, 3).Draw(t, "header"), rapid.SliceOfN(anyJob(), 0, 9).Draw(t, "jobs"))
	})
}

// anyJob returns a job with any numbers that a log in Standard Workload Format may have.
func anyJob() *rapid.Generator[Job] {
	integer := rapid.Int64Range(-1, 1<<53)
	real := rapid.OneOf(rapid.Just(-1.0), rapid.Float64Min(0), rapid.Float64Range(0, 1e15), rapid.Float64Range(0, 1))
	return rapid.Custom(func(t *rapid.T) Job {
		return Job{swf.Job{
			Number: integer.Draw(t, "number"), Submit: real.Draw(t, "submit"), Wait: real.Draw(t, "wait"),
			RunTime: real.Draw(t, "run"), Processors: integer.Draw(t, "processors"), CPUTime: real.Draw(t, "cpu"),
			Memory: real.Draw(t, "memory"), RequestedProcessors: integer.Draw(t, "requested"),
			RequestedTime: real.Draw(t, "limit"), RequestedMemory: real.Draw(t, "requested memory"),
			Status: integer.Draw(t, "status"), User: integer.Draw(t, "user"), Group: integer.Draw(t, "group"),
			Executable: integer.Draw(t, "executable"), Queue: integer.Draw(t, "queue"),
			Partition: integer.Draw(t, "partition"), PrecedingJob: integer.Draw(t, "preceding"),
			ThinkTime: real.Draw(t, "think"),
		}, swf.Unknown}
	})
}

// Names survive in CSV: with separators, quotes and digits, in the numbers that they had.
func TestCSVKeepsNames(t *testing.T) {
	text := "; MaxProcs: 400\nid\trun_time\tuser\taccount\tpartition\n" + strings.Join([]string{
		`1	2	"ann, ""b"""	phys	5`, "2	2	bob	-1	gpu", "3	2	7	phys	1", "4	2	07	a  b;c	5", "5	2	3	é|	",
	}, "\n") + "\n"
	jobs, r, err := readJobs(text)
	if err != nil || len(jobs) != 5 || r.Name("user", jobs[0].User) != `ann, "b"` {
		t.Fatalf("%v, error %v", jobs, err)
	}
	checkCSV(t, r.Header(), jobs, r)
	csv, err := writeCSV(nil, jobs[:1], r)
	const heading = "id,submit,wait,run_time,cpus,cpu_seconds,memory_kb,requested_cpus,requested_time," +
		"requested_memory_kb,status,user,group,executable,queue,partition,preceding_job,think_time,account\n"
	if want := heading + `1,,,2,,,,,,,,"ann, ""b""",,,,5,,,phys` + "\n"; err != nil || csv != want {
		t.Errorf("error %v, got %s, want %s", err, csv, want)
	}
	checkCSV(t, nil, nil, nil)
}

// A job that a reader would not accept is not written.
func TestWriterRejects(t *testing.T) {
	_, r, err := readJobs(`{"id": 1, "run_time": 2, "user": "a\nb", "group": "` + strings.Repeat("x", 40_000) +
		"\"}\n" + `{"id": 2, "run_time": 2, "account": "` + strings.Repeat("x", 30_000) + `"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{Account: -2}, "account = -2: want an integer from 0 to 2^53, or -1 if unknown"},
		{Job{Job: swf.Job{Wait: -2}},
			"field 3, wait time = -2: want a finite number of seconds >= 0, or -1 if unknown"},
		{Job{Job: swf.Job{User: 1}}, `names = "0,0,0,0,0,0,0,0,0,0,0,a\nb,0,0,0,0,0,0,0": want names in one line`},
		{Job{Job: swf.Job{Group: 1}, Account: 1}, "row = 70035 bytes: want at most 65535 bytes"},
	} {
		text, err := writeCSV(nil, []Job{c.job}, r)
		if fmt.Sprint(err) != c.want || text != "" {
			t.Errorf("%v gives %q, error %v, want %s", c.job, text, err, c.want)
		}
	}
	w := NewWriter(&bytes.Buffer{}, nil)
	if err := w.Write(Job{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Comment("; late"); err == nil || err.Error() != `comment = "; late": want a comment before the `+
		`first job` {
		t.Errorf("error %v", err)
	}
	if err := NewWriter(&bytes.Buffer{}, nil).Comment("x"); err == nil {
		t.Error("no error about a comment without ;")
	}
}
