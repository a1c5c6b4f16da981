package joblog

import (
	"errors"
	"io"
	"strings"
	"testing"

	"productform/internal/input"
)

// Broken logs give errors that name the line, the column, the value and the valid form.
func TestBrokenLogs(t *testing.T) {
	const (
		sacct = "JobID|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|AllocTRES|State\n"
		day   = "2026-03-01T12:00:00|"
		ok    = "7|" + day + day + day + "00:00:00|UNLIMITED|4||COMPLETED\n"
		csv   = "id,submit,run_time,cpus\n"
		pbs   = "03/01/2026 12:00:00;E;7.server;"
	)
	row := func(id, submit, start, end, elapsed, limit, cpus, tres, state string) string {
		return sacct + ok + strings.Join([]string{id, submit, start, end, elapsed, limit, cpus, tres, state}, "|") +
			"\n"
	}
	d := day[:len(day)-1]
	for _, c := range []struct{ name, text, want string }{
		{"month 13", row("8", "2026-13-01T12:00:00", d, d, "1", "", "4", "", ""),
			"log:3: Submit = 2026-13-01T12:00:00: want " + wantTime},
		{"February 29", row("8", d, "2026-02-29T12:00:00", d, "1", "", "4", "", ""),
			"log:3: Start = 2026-02-29T12:00:00: want " + wantTime},
		{"American date", row("8", d, d, "03/01/2026 12:00", "1", "", "4", "", ""),
			"log:3: End = 03/01/2026 12:00: want " + wantTime},
		{"before 1970", row("8", "1969-12-31T23:59:59", d, d, "1", "", "4", "", ""),
			"log:3: Submit = 1969-12-31T23:59:59: want " + wantTime},
		{"61 minutes", row("8", d, d, d, "01:61:00", "", "4", "", ""),
			"log:3: Elapsed = 01:61:00: want " + wantDuration},
		{"25 hours of a day", row("8", d, d, d, "1-25:00:00", "", "4", "", ""),
			"log:3: Elapsed = 1-25:00:00: want " + wantDuration},
		{"word for a limit", row("8", d, d, d, "1", "infinite", "4", "", ""),
			"log:3: Timelimit = infinite: want " + wantLimit},
		{"fraction of a processor", row("8", d, d, d, "1", "", "1.5", "", ""),
			"log:3: AllocCPUS = 1.5: want " + wantCount},
		{"resources without a number", row("8", d, d, d, "1", "", "", "cpu=,mem=1G", ""),
			"log:3: AllocTRES = cpu=,mem=1G: want " + wantTRES},
		{"unknown state", row("8", d, d, d, "1", "", "4", "", "DONE"), "log:3: State = DONE: want " + wantStatus},
		{"name with a separator", sacct + ok + "8|" + ok,
			"log:3: row = 10 cells: want 9 cells, one per column of the heading"},
		{"cut row", sacct + ok + "8|2026", "log:3: row = 2 cells: want 9 cells, one per column of the heading"},
		{"no run time", "JobID|Submit|Start\n",
			"log:1: columns = JobID,Submit,Start: want a column of run times, or of starts and ends; " +
				"--columns run_time=NAME or start=NAME,end=NAME names them"},
		{"same column twice", "id,run_time,run_time\n", "log:1: heading = run_time: want a unique name"},
		{"open quote", csv + "1,2,\"3,4\n", `log:2: cell = "\"3,4": want a closing quote in the same line`},
		{"text after a quote", csv + "1,2,\"3\"4,4\n",
			`log:2: cell = "\"3\"4,4": want a separator after the closing quote`},
		{"decimal comma", strings.ReplaceAll(csv, ",", ";") + "1;2;3,5;4\n",
			"log:2: run_time = 3,5: want " + wantDuration},
		{"negative run time", csv + "1,2,-3,4\n", "log:2: run_time = -3: want " + wantDuration},
		{"cut object", "{\"id\": 1, \"run_time\": 2}\n{\"id\": 1,\n",
			`log:2: record = "{\"id\": 1,": want a JSON object in one line; unexpected end of JSON input`},
		{"document in JSON", "{\n  \"jobs\": []\n}\n",
			"log:1: record = {: want a JSON object in one line; unexpected end of JSON input"},
		{"objects without run times", "{\"id\": 1}\n{\"id\": 2}\n",
			"log: columns = id: want a column of run times, or of starts and ends; --columns run_time=NAME or " +
				"start=NAME,end=NAME names them"},
		{"objects with other keys", "{\"job\": 1, \"when\": 3, \"secs\": 5}\n{\"job\": 2, \"of\": {}}\n",
			"log: columns = job,when,secs,of: want a column of run times, or of starts and ends; --columns " +
				"run_time=NAME " +
				"or start=NAME,end=NAME names them"},
		{"other line among records", pbs + "start=1 end=2\nhello\n",
			"log:2: record = hello: want MM/DD/YYYY HH:MM:SS;TYPE;ID;NAME=VALUE ..."},
		{"chunks of nothing", pbs + "start=1 end=2 Resource_List.select=2:ncpus=+1\n",
			"log:1: Resource_List.select = 2:ncpus=+1: want " + wantChunks},
		{"exit status in words", pbs + "start=1 end=2 Exit_status=good\n",
			"log:1: Exit_status = good: want an integer"},
		{"sacct without -P", "JobID        Elapsed\n-----  ------\n",
			"log:1: want " + wantFormat + ", not JobID        Elapsed; this looks like the output of sacct without -P"},
		{"sacct without -P, to the right", "       JobID    Elapsed\n------------ ----------\n",
			"log:1: want " + wantFormat +
				", not        JobID    Elapsed; this looks like the output of sacct without -P"},
		{"table without a heading", "7001,1764576000,5400\n",
			"log:1: want " + wantFormat + ", not 7001,1764576000,5400; this looks like a table without a heading"},
		{
			"unknown columns", "a,b\n1,2\n",
			"log:1: want " + wantFormat + ", not a,b; this looks like a table without a known " +
				"column; --columns submit=NAME,run_time=NAME,cpus=NAME names them",
		},
		{"YAML with commas", "a: {b: 1, c: 2}\n",
			"log:1: want " + wantFormat + ", not a: {b: 1, c: 2}; this looks like YAML"},
		{"YAML", "classes:\n", "log:1: want " + wantFormat + ", not classes:; this looks like YAML"},
		{"binary", "\x7fELF\x00\x01\n",
			"log:1: want " + wantFormat + `, not "\x7fELF\x00\x01"; this looks like a program or a binary file`},
		{"binary without zeros", ",\xe4B~*\x1b!\xca \xe4\n",
			"log:1: want " + wantFormat + `, not ",\xe4B~*\x1b!\xca \xe4"; this looks like a program or a binary file`},
		{"minutes without an end", "JobID|Elapsed|TimelimitRaw\n1|7|1e308\n",
			"log:2: TimelimitRaw = 1e308: want " + wantMinutes},
	} {
		_, _, err := readAll(c.text, nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.want)
		}
		if bad := (*input.Error)(nil); !errors.As(err, &bad) {
			t.Errorf("%s: error of type %T", c.name, err)
		}
	}
	for text, columns := range map[string]map[string]string{
		"columns = nodes of run: want fields among ":                             {"nodes of run": "x"},
		"log:1: column cpus = x: want a column of this log: id,submit,run_time,": {"cpus": "x"},
	} {
		if _, _, err := readAll(csv, columns); err == nil || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("got  %v\nwant %s", err, text)
		}
	}
	_, _, err := readAll("1 0 5 120 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n", map[string]string{"cpus": "x"})
	if err == nil || !strings.Contains(err.Error(), "--columns = names of columns: want none") {
		t.Errorf("columns of SWF: %v", err)
	}
}

// A compressed log that ends early is an error.
func TestCutFiles(t *testing.T) {
	text := "id,run_time\n" + strings.Repeat("1,2\n", 40_000)
	for name, packed := range map[string]string{"gzip": packedGzip(text), "zstd": packedZstd(text)} {
		for _, n := range []int{len(packed) - 1, len(packed) / 2, 5} {
			_, _, err := readAll(packed[:n], nil)
			if !errors.Is(err, io.ErrUnexpectedEOF) ||
				!strings.Contains(err.Error(), "unpacking: the file ends early") {
				t.Errorf("%s, %d of %d bytes: error %v", name, n, len(packed), err)
			}
		}
	}
}

// Times that disagree are counted or dropped, never corrected.
func TestTimesThatDisagree(t *testing.T) {
	const heading = "JobID|Submit|Start|End|Elapsed|NCPUS\n"
	const day = "2026-10-25T0"
	for _, c := range []struct {
		row    string
		reason Reason // 0 for none
		isJob  bool
		run    float64
	}{
		{day + "1:00:00|" + day + "1:10:00|" + day + "1:20:00|00:10:00", 0, true, 600},
		{day + "2:40:00|" + day + "2:50:00|" + day + "2:10:00|00:20:00", ClockChange, true, 1200},
		{day + "1:40:00|" + day + "1:50:00|" + day + "4:10:00|03:20:00", ClockChange, true, 12000},
		{day + "1:00:00|" + day + "1:10:00|" + day + "4:10:00|00:20:00", OtherElapsed, true, 1200},
		{day + "1:00:00|" + day + "1:10:00|" + day + "1:00:00|00:20:00", EndBeforeStart, false, 0},
		{day + "1:00:00|" + day + "1:10:00|" + day + "1:00:00|", EndBeforeStart, false, 0},
		{day + "2:50:00|" + day + "2:10:00|" + day + "2:20:00|00:10:00", StartBeforeSubmit, true, 600},
		{day + "2:50:00|" + day + "2:50:00|Unknown|00:10:00", NoEnd, false, 0},
		{day + "2:50:00|Unknown|Unknown|00:00:00", NeverStarted, false, 0},
	} {
		jobs, r, err := readAll(heading+"7|"+c.row+"|4\n", nil)
		if err != nil {
			t.Errorf("%s: %v", c.row, err)
			continue
		}
		var reason Reason
		for _, n := range r.Report().Counts {
			if n.Reason != LocalTime {
				reason = n.Reason
			}
		}
		if reason != c.reason || (len(jobs) == 1) != c.isJob || c.isJob && jobs[0].RunTime != c.run {
			t.Errorf("%s: jobs %v, reason %q", c.row, jobs, reason)
		}
		if c.reason == StartBeforeSubmit && jobs[0].Wait != -1 {
			t.Errorf("waited for %v", jobs[0].Wait)
		}
	}
}

// If several columns have common names of a field, the report names all, and in each record the
// first known value counts.
func TestSeveralColumnsOfAField(t *testing.T) {
	const csv = "id,queued,Submit,submit,elapsed,duration\n1,3,5,6,7,8\n2,9,,,,8\n"
	const lines = `{"id":1,"queued":3,"Submit":5,"submit":6,"elapsed":7,"duration":8}` + "\n" +
		`{"id":2,"queued":9,"Submit":null,"duration":8}` + "\n"
	for _, text := range []string{csv, lines} {
		jobs, r, err := readAll(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) != 2 || jobs[0].Submit != 5 || jobs[0].RunTime != 7 || jobs[1].Submit != 9 ||
			jobs[1].RunTime != 8 {
			t.Errorf("jobs %v", jobs)
		}
		want := "; columns guessed: id=id,submit=Submit or submit or queued,run_time=elapsed or duration"
		if report := r.Report().Lines(); len(report) != 1 || !strings.HasSuffix(report[0], want) {
			t.Errorf("report %q, want %q", report, want)
		}
	}
}
