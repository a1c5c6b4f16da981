package joblog

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"productform/dispatch/swf"
	"productform/traces"
)

// readAll reads a log.
func readAll(text string, columns map[string]string) (jobs []swf.Job, r *Reader, err error) {
	r = NewReader(strings.NewReader(text), "log", Dialect{Columns: columns})
	for job, err := range r.All() {
		if err != nil {
			return nil, r, err
		}
		jobs = append(jobs, job.Job)
	}
	return jobs, r, nil
}

// shipped returns the jobs of the logs that come with the program.
func shipped(t testing.TB) []swf.Job {
	t.Helper()
	from, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	log, err := swf.ReadAll(from, "SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../cmd/pfq/examples/logs/five-jobs.swf")
	if err != nil {
		t.Fatal(err)
	}
	five, err := swf.ReadAll(bytes.NewReader(text), "five-jobs.swf")
	if err != nil {
		t.Fatal(err)
	}
	return append(five.Jobs, log.Jobs...)
}

// A writer writes jobs in some format, with package time for dates, and returns the jobs that a
// reader must return: the fields that the format has, of the jobs that ran.
type writer func(jobs []swf.Job, random *rand.Rand) (text string, want []swf.Job, dropped int)

const origin = 1772323200 // 2026-03-01 in UTC

// ran returns a job as it is read from a log of starts and ends, ok if it has both.
func ran(j swf.Job) (swf.Job, bool) {
	if j.Wait == swf.Unknown {
		j.Wait = 0
	}
	j.Submit += origin
	return swf.Job{
		Number: j.Number, Submit: j.Submit, Wait: j.Wait, RunTime: j.RunTime, Processors: j.Processors,
		CPUTime: swf.Unknown, Memory: swf.Unknown, RequestedProcessors: swf.Unknown, RequestedTime: j.RequestedTime,
		RequestedMemory: swf.Unknown, Status: swf.Unknown, User: j.User, Group: j.Group, Executable: swf.Unknown,
		Queue: swf.Unknown, Partition: j.Partition, PrecedingJob: swf.Unknown, ThinkTime: swf.Unknown,
	}, j.RunTime != swf.Unknown && j.Processors > 0
}

func date(seconds float64) string {
	return time.Unix(int64(seconds), 0).UTC().Format("2006-01-02T15:04:05")
}

// clock writes a duration as Slurm does.
func clock(seconds float64) string {
	s := int64(seconds)
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if s >= 86400 {
		text = fmt.Sprintf("%d-%s", s/86400, text)
	}
	return text
}

// nameOf returns the name of a number, or nothing if it is unknown.
func nameOf(n int64) string {
	if n == swf.Unknown {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// writeSacct writes the output of sacct -P with columns in random order, steps, array tasks, jobs
// that never started or run, and other oddities.
func writeSacct(jobs []swf.Job, random *rand.Rand) (text string, want []swf.Job, dropped int) {
	columns := []string{
		"JobID", "JobName", "User", "Account", "Group", "Partition", "Submit", "Start", "End", "Elapsed",
		"Timelimit", "State", "ExitCode", "NNodes", "NodeList",
	}
	width := []string{"AllocCPUS", "NCPUS", "AllocTRES"}[random.IntN(3)]
	columns = append(columns, width)
	random.Shuffle(len(columns), func(i, k int) { columns[i], columns[k] = columns[k], columns[i] })
	tail := strings.Repeat("|", random.IntN(2)) // as with sacct -p
	var b strings.Builder
	row := func(cells map[string]string) {
		for i, c := range columns {
			if i > 0 {
				b.WriteByte('|')
			}
			b.WriteString(cells[c])
		}
		b.WriteString(tail + "\n")
	}
	heading := map[string]string{}
	for _, c := range columns {
		heading[c] = c
	}
	row(heading)
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	for _, j := range jobs {
		w, ok := ran(j)
		if !ok {
			continue
		}
		id := nameOf(j.Number) + pick("", "", "_4", "+1", "_[5]")
		w.Status = []int64{1, 5, 0, 0, 0}[random.IntN(5)]
		cells := map[string]string{
			"JobID": id, "JobName": "a job", "User": nameOf(j.User), "Account": pick("phys", "chem"),
			"Group": nameOf(j.Group), "Partition": nameOf(j.Partition), "Submit": date(w.Submit),
			"Start": date(w.Submit + w.Wait), "End": date(w.Submit + w.Wait + w.RunTime), "Elapsed": clock(w.RunTime),
			"Timelimit": pick("UNLIMITED", "Partition_Limit"), "ExitCode": "0:0", "NNodes": "1", "NodeList": "n[1-4]",
			width: nameOf(j.Processors),
		}
		cells["State"] = map[int64]string{0: pick("FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"),
			1: "COMPLETED", 5: pick("CANCELLED by 1001", "CANCELLED", "CANCELLED+")}[w.Status]
		if j.RequestedTime != swf.Unknown {
			cells["Timelimit"] = clock(j.RequestedTime)
		}
		if width == "AllocTRES" {
			cells[width] = fmt.Sprintf("billing=7,cpu=%d,gres/gpu=2,mem=16G,node=1", j.Processors)
		}
		row(cells)
		want = append(want, w)
		cells["Partition"] = ""
		for _, step := range []string{".batch", ".extern", ".0", ".interactive"} {
			if random.IntN(4) == 0 {
				cells["JobID"] = id + step
				row(cells)
				dropped++
			}
		}
		cells["JobID"] = id
		switch random.IntN(20) {
		case 0:
			cells["Start"], cells["End"], cells["Elapsed"] = pick("Unknown", "None"), "Unknown", "00:00:00"
			cells["State"], cells["NodeList"] = pick("PENDING", "CANCELLED by 7"), "None assigned"
		case 1:
			cells["End"], cells["State"] = "Unknown", "RUNNING"
		case 2:
			cells = heading
		default:
			continue
		}
		row(cells)
		dropped++
	}
	return b.String(), want, dropped
}

// writeTable writes a table with quotes, or the same as JSON lines for the separator 0.
func writeTable(separator string) writer {
	return func(jobs []swf.Job, random *rand.Rand) (text string, want []swf.Job, dropped int) {
		names := []string{
			"id", "submit_time", "Started", "end", "Cores", "time limit", "user", "group", "partition", "note",
		}
		random.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		var b strings.Builder
		quoted := func(cells []string) {
			for i, c := range cells {
				if random.IntN(3) == 0 || strings.ContainsAny(c, separator+`"`) {
					cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
				}
			}
			b.WriteString(strings.Join(cells, separator) + "\r\n")
		}
		if separator != "" {
			quoted(append([]string{}, names...))
		}
		for _, j := range jobs {
			w, ok := ran(j)
			if !ok {
				continue
			}
			zone := []string{"", "Z", "+00:00"}[random.IntN(3)]
			cells := map[string]string{
				"id": nameOf(j.Number), "submit_time": date(w.Submit) + zone,
				"end":     date(w.Submit+w.Wait+w.RunTime) + zone,
				"Started": strconv.FormatFloat(w.Submit+w.Wait, 'f', -1, 64), "Cores": nameOf(j.Processors),
				"time limit": strconv.FormatFloat(j.RequestedTime, 'f', -1, 64), "user": nameOf(j.User),
				"group": nameOf(j.Group), "partition": nameOf(j.Partition), "note": `a, "b"; ` + "\t{é}",
			}
			want = append(want, w)
			if separator == "" {
				line, _ := json.Marshal(cells)
				b.WriteString(string(line) + "\n")
				continue
			}
			var row []string
			for _, n := range names {
				row = append(row, cells[n])
			}
			quoted(row)
		}
		return b.String(), want, dropped
	}
}

// writePBS writes accounting records.
func writePBS(jobs []swf.Job, random *rand.Rand) (text string, want []swf.Job, dropped int) {
	var b strings.Builder
	for _, j := range jobs {
		w, ok := ran(j)
		if !ok {
			continue
		}
		w.Partition = swf.Unknown
		w.Status = int64(random.IntN(2))
		for range random.IntN(3) {
			fmt.Fprintf(&b, "03/01/2026 12:00:00;%s;%d.server;queue=batch\n", []string{"Q", "S", "D"}[random.IntN(3)],
				j.Number)
			dropped++
		}
		width := fmt.Sprintf("Resource_List.ncpus=%d", j.Processors)
		if random.IntN(2) == 0 {
			width = fmt.Sprintf("Resource_List.ncpus=1 Resource_List.nodes=%d:ppn=1", j.Processors)
		}
		id := []string{"", "[4]"}[random.IntN(2)]
		limit := ""
		if j.RequestedTime != swf.Unknown {
			s := int64(j.RequestedTime)
			limit = fmt.Sprintf(" Resource_List.walltime=%02d:%02d:%02d", s/3600, s/60%60, s%60)
		}
		user, group := "", ""
		if j.User != swf.Unknown {
			user = "user=" + nameOf(j.User) + " "
		}
		if j.Group != swf.Unknown {
			group = "group=" + nameOf(j.Group) + " "
		}
		fmt.Fprintf(&b, "03/02/2026 12:00:00;E;%d%s.server;%s%sjobname=a b ctime=%.0f qtime=%.0f start=%.0f %s%s "+
			"exec_host=n1/0+n2/0 end=%.0f Exit_status=%d\n", j.Number, id, user, group, w.Submit, w.Submit,
			w.Submit+w.Wait, width, limit, w.Submit+w.Wait+w.RunTime, 271*(1-w.Status))
		want = append(want, w)
	}
	return b.String(), want, dropped
}

// whole rounds the times of jobs, since dates have whole seconds.
func whole(jobs []swf.Job) []swf.Job {
	rounded := make([]swf.Job, len(jobs))
	for i, j := range jobs {
		for _, v := range []*float64{&j.Submit, &j.Wait, &j.RunTime, &j.RequestedTime} {
			*v = float64(int64(*v))
		}
		rounded[i] = j
	}
	return rounded
}

func packedGzip(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// zstdWriter returns the one writer of zstd files, which takes megabytes.
var zstdWriter = sync.OnceValue(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w
})

func packedZstd(text string) string {
	var b bytes.Buffer
	w := zstdWriter()
	w.Reset(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// The jobs of the logs that come with the program, written in each format with random oddities,
// plain and compressed, are read back unchanged; 40 of the files are those of sacct.
func TestWrittenJobsReadBack(t *testing.T) {
	all := whole(shipped(t))
	for _, c := range []struct {
		name  string
		files int
		write writer
	}{
		{"sacct", 40, writeSacct},
		{"CSV", 6, writeTable(",")},
		{"TSV", 6, writeTable("\t")},
		{"a table separated by semicolons", 6, writeTable(";")},
		{"JSON lines", 6, writeTable("")},
		{"PBS accounting", 6, writePBS},
	} {
		for seed := range c.files {
			random := rand.New(rand.NewPCG(uint64(seed), 0))
			jobs := all
			if seed > 0 {
				const some = 500 // at least one job in 20 has each oddity
				from := random.IntN(len(all) - some)
				jobs = all[from : from+some]
			}
			text, want, dropped := c.write(jobs, random)
			switch seed % 3 {
			case 1:
				text = packedGzip(text)
			case 2:
				text = packedZstd(text)
			}
			got, r, err := readAll(text, nil)
			if err != nil {
				t.Fatalf("%s %d: %v", c.name, seed, err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s %d: %d and %d jobs: %s", c.name, seed, len(got), len(want), cmp.Diff(want, got))
			}
			report := r.Report()
			for _, n := range report.Counts {
				if n.Reason < ClockChange {
					dropped -= n.Records
				}
			}
			if report.Format != c.name || dropped != 0 {
				t.Errorf("%s %d: format %s, %d more records dropped than counted", c.name, seed, report.Format, dropped)
			}
		}
	}
}

// All 18 fields of a job can be columns of a CSV file, which reads like the log in SWF.
func TestCSVHasFieldsOfSWF(t *testing.T) {
	const heading = "id,submit,wait,run_time,cpus,cpu_seconds,memory_kb,requested_cpus,requested_time," +
		"requested_memory_kb,status,user,group,executable,queue,partition,preceding_job,think_time\n"
	check := func(fail func(string, ...any), jobs []swf.Job) {
		var text bytes.Buffer
		w := swf.NewWriter(&text)
		for _, j := range jobs {
			if err := w.Write(j); err != nil {
				fail("%v", err)
			}
		}
		if err := w.Flush(); err != nil {
			fail("%v", err)
		}
		got, _, err := readAll(heading+strings.ReplaceAll(text.String(), " ", ","), nil)
		if err != nil || !slices.Equal(got, jobs) {
			fail("error %v, %s", err, cmp.Diff(jobs, got))
		}
	}
	check(t.Fatalf, shipped(t))
	rapid.Check(t, func(t *rapid.T) {
		integer := rapid.Int64Range(-1, 1<<53)
		real := rapid.OneOf(rapid.Just(-1.0), rapid.Float64Range(0, 1e15), rapid.Float64Range(0, 1))
		check(t.Fatalf, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) swf.Job {
			return swf.Job{
				Number: rapid.Int64Range(0, 1<<53).Draw(t, "number"), Submit: real.Draw(t, "submit"),
				Wait: real.Draw(t, "wait"), RunTime: real.Draw(t, "run"), Processors: integer.Draw(t, "processors"),
				CPUTime: real.Draw(t, "cpu"), Memory: real.Draw(t, "memory"),
				RequestedProcessors: integer.Draw(t, "requested"), RequestedTime: real.Draw(t, "limit"),
				RequestedMemory: real.Draw(t, "requested memory"), Status: integer.Draw(t, "status"),
				User: integer.Draw(t, "user"), Group: integer.Draw(t, "group"),
				Executable: integer.Draw(t, "executable"),
				Queue:      integer.Draw(t, "queue"), Partition: integer.Draw(t, "partition"),
				PrecedingJob: integer.Draw(t, "preceding"), ThinkTime: real.Draw(t, "think"),
			}
		}), 0, 9).Draw(t, "jobs"))
	})
}

// A log in Standard Workload Format reads as package swf reads it, with the same errors.
func TestSWFReadsAsInPackageSWF(t *testing.T) {
	const line = "1 0 5 120.25 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n"
	for _, text := range []string{
		"", "; MaxProcs: 4\n" + line, line + "1 2\n", "\ufeff;\n\n" + line, "1 2 3", "; only",
	} {
		want, wantErr := swf.ReadAll(strings.NewReader(text), "log")
		got, r, err := readAll(text, nil)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want.Jobs) {
			t.Errorf("%q: %v, error %v, want %v, error %v", text, got, err, want.Jobs, wantErr)
		}
		if err == nil && (!cmp.Equal(r.Header(), want.Header) || r.Report().Lines() != nil) {
			t.Errorf("%q: header %q, report %v", text, r.Header(), r.Report())
		}
		if strings.HasSuffix(text, line) && r.RunTime() != "120.25" {
			t.Errorf("run time %s", r.RunTime())
		}
	}
}

// Tasks of an array share its number, which the report says; the column JobIDRaw has their own.
func TestArrayTasks(t *testing.T) {
	const log = "JobID|Submit|Elapsed|AllocCPUS\n12|0|5|1\n13_1|1|5|1\n13_[2-9%4]|2|5|1\n"
	jobs, r, err := readJobs(log)
	want := []Count{{Reason: ArrayTask, Records: 2, FirstLine: 3}}
	if err != nil || len(jobs) != 3 || jobs[1].Number != 13 || jobs[2].Number != 13 ||
		!slices.Equal(r.Report().Counts, want) {
		t.Errorf("%v, %v, %v", jobs, err, r.Report())
	}
	jobs, r, err = readJobs("JobIDRaw|" + strings.NewReplacer("\n12", "\n12|12", "\n13", "\n14|13").Replace(log))
	if err != nil || len(jobs) != 3 || jobs[1].Number != 14 || r.Report().Counts != nil {
		t.Errorf("%v, %v, %v", jobs, err, r.Report())
	}
}

// Name gives back the names that became numbers, and the digits of numbers.
func TestNames(t *testing.T) {
	const csv = "id,run_time,user,account,partition\n1,2,ann,phys,5\n2,2,bob,,gpu\n3,2,7,phys,1\n4,2,07,chem,5\n"
	const log = "1 0 5 120 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n"
	const pbs = "03/01/2026 12:00:00;E;7.server;start=1 end=2 run_count=1 "
	for text, want := range map[string]string{
		csv: "ann/phys/5 bob//gpu 7/phys/1 07/chem/5 ", log: "3// ",
		pbs + `account="my acct" user=ann`: "ann/my acct/ ", pbs + `user=ann account='a "b" c'`: `ann/a "b" c/ `,
		pbs + `account="my user=eve" user=ann`: "ann/my user=eve/ ", pbs + `account="" user=ann`: "ann// ",
		pbs + `account="a user=ann`: `ann/"a/ `, pbs + `account="a"b user=ann`: `ann/"a"b/ `, // not in quotes
	} {
		r := NewReader(strings.NewReader(text), "log", Dialect{})
		var got strings.Builder
		for j, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s/%s/%s ", r.Name("user", j.User), r.Name("account", j.Account),
				r.Name("partition", j.Partition))
		}
		if got.String() != want {
			t.Errorf("names %q, want %q", got.String(), want)
		}
	}
}
