package main

import (
	"strings"
	"testing"

	"productform/cmd/pfq/internal/commandtest"
)

// Logs in other formats give the answers of the same log in Standard Workload Format, and the
// standard error says how they were read.
func TestLogsInOtherFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	commandtest.WriteFile(t, "a.swf", "7 60 0 5400 3 -1 -1 -1 7200 -1 1 1 -1 -1 -1 -1 -1 -1\n"+
		"8 120 0 600 2 -1 -1 -1 3600 -1 1 2 -1 -1 -1 -1 -1 -1\n")
	commandtest.WriteFile(t, "a.csv", "Nr,submitted,Seconds,cpus,limit,user\n"+
		"7,60,5400,3,7200,ann\n8,120,600,2,3600,bob\n")
	commandtest.WriteFile(t, "a.txt", "JobID|Submit|Start|End|NCPUS|Timelimit|User\n"+
		"7|2026-03-01T12:01:00|2026-03-01T12:01:00|2026-03-01T13:31:00|3|02:00:00|ann\n"+
		"7.0|2026-03-01T12:01:00|2026-03-01T12:01:00|2026-03-01T13:31:00|3||\n"+
		"8|2026-03-01T12:02:00|2026-03-01T12:02:00|2026-03-01T12:12:00|2|01:00:00|bob\n")
	const columns = " --columns id=Nr,run_time=Seconds"
	for _, c := range []struct{ args, log, swf, stderr string }{
		{"dispatch LOG --workers 4 --policy easy", "a.csv" + columns, "a.swf",
			"pfq: a.csv: CSV; columns guessed: submit=submitted,cpus=cpus,requested_time=limit,user=user\n"},
		{"dispatch LOG --workers 4 --policy easy", "a.txt", "a.swf",
			"pfq: a.txt: steps of jobs are omitted: 1 record, the first in line 3\n" +
				"pfq: a.txt: times without a zone are read as UTC: 2 records, the first in line 2\n"},
		{"dispatch LOG --workers 4 --policy easy", "a.txt --zone Europe/Berlin", "a.swf",
			"pfq: a.txt: steps of jobs are omitted: 1 record, the first in line 3\n"},
		{"tags --hosts 2 --load 0.1 --runs 0 --sizes LOG", "log:a.csv" + columns, "swf:a.swf", "pfq: a.csv: CSV; "},
		{"tags --hosts 2 --load 0.1 --runs 0 --processor-seconds --sizes LOG", "log:a.txt", "swf:a.swf",
			"pfq: a.txt: steps "},
		{"tags --hosts 2 --load 0.1 --runs 0 --sizes LOG", "log:a.swf", "swf:a.swf", ""},
	} {
		want, _, _ := pfq("", strings.Fields(strings.Replace(c.args, "LOG", c.swf, 1))...)
		got, stderr, status := pfq("", strings.Fields(strings.Replace(c.args, "LOG", c.log, 1))...)
		name, _, _ := strings.Cut(strings.TrimPrefix(c.log, "log:"), " ")
		if status != 0 || strings.ReplaceAll(got, name, "a.swf") != want || !strings.HasPrefix(stderr, c.stderr) {
			t.Errorf("%s: status %d, stderr %q, want %q\ngot\n%s\nwant\n%s", c.log, status, stderr, c.stderr, got, want)
		}
	}
	commandtest.WriteFile(t, "b.csv", "submitted,Seconds\n60,5400\n")
	for args, want := range map[string]string{
		"dispatch b.csv --workers 4 --columns run_time=Seconds": "pfq: b.csv: CSV; columns guessed: " +
			"submit=submitted\n" +
			"pfq: b.csv: columns = submitted,Seconds: want a column of processors; --columns cpus=NAME names it\n",
		"dispatch a.csv --columns id": "pfq: --columns = id: want pairs FIELD=NAME such as " +
			"submit=Submitted,run_time=Seconds,cpus=Cores, each field once\n",
		"dispatch a.swf --columns id=x": "pfq: a.swf: --columns = names of columns: want none for a log in " +
			"Standard Workload Format, whose fields have fixed places\n",
		"dispatch a.txt --zone CEST": "pfq: --zone = CEST: want a name of the IANA time zone database such as " +
			"Europe/Berlin, America/New_York or UTC\n",
		"dispatch a.swf --zone UTC": "pfq: a.swf: --zone = UTC: want none for a log in Standard Workload Format, " +
			"whose times are seconds\n",
		"tags --hosts 2 --load 0.1 --sizes swf:a.swf --zone UTC":     "pfq: --zone needs a log, --sizes log:PATH\n",
		"tags --hosts 2 --load 0.1 --sizes swf:a.swf --columns id=x": "pfq: --columns needs a log, --sizes log:PATH\n",
		"tags --hosts 2 --load 0.1 --sizes swf:a.csv": `pfq: a.csv:1: want 18 numbers separated by blanks, not ` +
			`Nr,submitted,Seconds,cpus,limit,user; this looks like CSV, not SWF: see "A log of my own" in ` +
			"docs/guide/dispatch.md\n",
	} {
		if stdout, stderr, status := pfq("", strings.Fields(args)...); status != 2 || stdout != "" || stderr != want {
			t.Errorf("%s: status %d, stdout %q, stderr %q, want %q", args, status, stdout, stderr, want)
		}
	}
}
