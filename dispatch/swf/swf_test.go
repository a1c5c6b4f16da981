package swf_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/traces"
)

const line = "1 0 5 120.5 4 118 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1"

// job returns the job of line.
func job() swf.Job {
	return swf.Job{
		Number: 1, Submit: 0, Wait: 5, RunTime: 120.5, Processors: 4, CPUTime: 118, Memory: -1, RequestedProcessors: 4,
		RequestedTime: 300, RequestedMemory: -1, Status: 1, User: 3, Group: 1, Executable: -1, Queue: 1, Partition: -1,
		PrecedingJob: -1, ThinkTime: -1,
	}
}

// naive parses a text in the simplest way. Its errors do not name the cause.
func naive(text string) (log swf.Log, err error) {
	number := regexp.MustCompile(`^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)
	if looksWide(text) {
		return swf.Log{}, errors.New("UTF-16")
	}
	for i, line := range strings.Split(text, "\n") {
		if len(line) > 65535 {
			return swf.Log{}, errors.New("long")
		}
		if i == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.TrimRight(line, "\r")
		if start := strings.Trim(line, " \t"); start == "" {
			continue
		} else if start[0] == ';' {
			log.Header = append(log.Header, line)
			continue
		}
		var j swf.Job
		fields := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' })
		if len(fields) != 18 {
			return swf.Log{}, errors.New("fields")
		}
		for i, place := range places(&j) {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil || !number.MatchString(fields[i]) || v != -1 && (v < 0 || fields[i][0] == '-') {
				return swf.Log{}, errors.New("number")
			}
			switch place := place.(type) {
			case *float64:
				*place = v
			case *int64:
				if *place, err = strconv.ParseInt(fields[i], 10, 64); err != nil || *place > 1<<53 {
					return swf.Log{}, errors.New("integer")
				}
			}
		}
		log.Jobs = append(log.Jobs, j)
	}
	return log, nil
}

// looksWide reports whether a text begins like one in UTF-16: with a byte order mark, or with two
// characters that each have a zero byte in the same place.
func looksWide(text string) bool {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return true
	}
	zeros := ""
	for i := range min(4, len(text)) {
		zeros += strconv.FormatBool(text[i] == 0)
	}
	return zeros == "falsetruefalsetrue" || zeros == "truefalsetruefalse"
}

// places returns pointers to the fields of a job, *int64 or *float64.
func places(j *swf.Job) []any {
	return []any{
		&j.Number, &j.Submit, &j.Wait, &j.RunTime, &j.Processors, &j.CPUTime, &j.Memory, &j.RequestedProcessors,
		&j.RequestedTime, &j.RequestedMemory, &j.Status, &j.User, &j.Group, &j.Executable, &j.Queue, &j.Partition,
		&j.PrecedingJob, &j.ThinkTime,
	}
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// written returns the text of a log.
func written(t interface{ Fatal(...any) }, log swf.Log) string {
	var b strings.Builder
	w := swf.NewWriter(&b)
	for _, comment := range log.Header {
		if err := w.Comment(comment); err != nil {
			t.Fatal(err)
		}
	}
	for _, j := range log.Jobs {
		if err := w.Write(j); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sdsc(t testing.TB) string {
	t.Helper()
	r, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A real log, compressed or not, is read as the naive reader reads it, and survives writing and
// reading.
func TestRealLog(t *testing.T) {
	text := sdsc(t)
	want, err := naive(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Jobs) != 32135 || len(want.Header) == 0 {
		t.Fatalf("%d jobs, %d comments", len(want.Jobs), len(want.Header))
	}
	for name, text := range map[string]string{"plain": text, "packed": packed(text), "written": written(t, want)} {
		got, err := swf.ReadAll(strings.NewReader(text), name)
		if err != nil || !slices.Equal(got.Header, want.Header) || !slices.Equal(got.Jobs, want.Jobs) {
			t.Errorf("%s: differs from the naive reader, error %v", name, err)
		}
	}
}

func TestSpacing(t *testing.T) {
	tabs := strings.ReplaceAll(line, " ", "\t")
	for text, want := range map[string]swf.Log{
		"":                       {},
		"\n\n":                   {},
		" \t\r\n":                {},
		line:                     {Jobs: []swf.Job{job()}},
		line + "\n":              {Jobs: []swf.Job{job()}},
		"\ufeff" + line + "\r\n": {Jobs: []swf.Job{job()}},
		"\t " + tabs + " \t\r\r\n\n  " + line + " ": {Jobs: []swf.Job{job(), job()}},
		"; a \r\n" + line + "\n \t;b;\r\n" +
			line + "\n;": {Header: []string{"; a ", " \t;b;", ";"}, Jobs: []swf.Job{job(), job()}},
		"\ufeff;\xff\rx\r\n": {Header: []string{";\xff\rx"}},
		";" + strings.Repeat("x", 65534) + "\n;" + strings.Repeat("y", 65534): {
			Header: []string{";" + strings.Repeat("x", 65534), ";" + strings.Repeat("y", 65534)},
		},
	} {
		for _, source := range []io.Reader{
			strings.NewReader(text), bufio.NewReaderSize(strings.NewReader(text), 1<<20),
			iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(packed(text))),
			strings.NewReader(packed(text[:len(text)/2]) + packed(text[len(text)/2:])),
		} {
			if got, err := swf.ReadAll(source, "log"); err != nil || !cmp.Equal(got, want) {
				t.Errorf("%.99q: error %v, %s", text, err, cmp.Diff(want, got))
			}
		}
	}
}

// Each number is tried in all fields that may hold it.
func TestNumbers(t *testing.T) {
	const integer = "an integer from 0 to 2^53, or -1 if unknown"
	for text, want := range map[string]float64{
		"0": 0, "007": 7, "9007199254740992": 1 << 53, "-1": -1, // allowed in all fields
		// in some
		"-1.0": -1, "-1.": -1, "-10e-1": -1, "-.1e1": -1, "0.0": 0, "5.": 5, ".5": 0.5, "0.1": 0.1,
		"1e3": 1000, "1E+3": 1000, "2.5e-3": 2.5e-3,
		// rounded to nearest
		"9007199254740993": 1 << 53, "9007199254740995": 1<<53 + 4, "18446744073709551616": 1 << 64,
		"1e-400": 0, "5e-324": 5e-324, "1.7976931348623157e308": math.MaxFloat64, strings.Repeat("0", 400) + "1": 1,
		"1" + strings.Repeat("0", 300): 1e300,
		// in none
		"-2": nan, "-0": nan, "-0.0": nan, "-1e-400": nan, "-1.5": nan, "-12": nan, "+1": nan, "--1": nan,
		"-": nan, ".": nan, "e5": nan, "1e": nan, "1-2": nan,
		"1e999": nan, "-1e999": nan, "NaN": nan, "nan": nan, "Inf": nan, "-Inf": nan, "inf": nan,
		"Infinity": nan, "0x10": nan, "0x1p4": nan, "1_000": nan,
		"{1}": nan, "1,5": nan, "1;": nan, "?": nan, "one": nan, "\x00": nan, "٣": nan, "\u00a01": nan,
		"1\r2": nan, "\v1": nan,
	} {
		for i := range swf.Columns {
			var want = want
			integral := regexp.MustCompile(`^(-1|\d+)$`).MatchString(text) && want <= 1<<53 &&
				text != "9007199254740993"
			fields := strings.Fields(line)
			fields[i] = text
			j := job()
			message := ""
			switch place := places(&j)[i].(type) {
			case *int64:
				if *place = int64(want); !integral {
					message = integer
				}
			case *float64:
				if *place = want; want != want {
					message = "a finite number of seconds >= 0, or -1 if unknown"
					if i == 6 || i == 9 {
						message = "a finite number of kilobytes >= 0, or -1 if unknown"
					}
				}
			}
			got, err := swf.ReadAll(strings.NewReader("; log\n\n"+strings.Join(fields, " ")), "log.swf")
			if message == "" {
				if err != nil || len(got.Jobs) != 1 || got.Jobs[0] != j {
					t.Errorf("%.99q in field %d: %v, error %v, want %v", text, i+1, got.Jobs, err, j)
				}
				continue
			}
			var e *input.Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), fmt.Sprintf("log.swf:3: field %d, ", i+1)) ||
				e.Want != message || got.Jobs != nil {
				t.Errorf("%.99q in field %d: %v, error %v, want %s", text, i+1, got.Jobs, err, message)
			}
		}
	}
}

var nan = math.NaN()

// spoilt returns line with a different text in one field.
func spoilt(field int, text string) string {
	fields := strings.Fields(line)
	fields[field-1] = text
	return strings.Join(fields, " ")
}

func TestMessages(t *testing.T) {
	const (
		all       = "want 18 fields in each line, -1 for what is unknown"
		integer   = "want an integer from 0 to 2^53, or -1 if unknown"
		seconds   = "want a finite number of seconds >= 0, or -1 if unknown"
		kilobytes = "want a finite number of kilobytes >= 0, or -1 if unknown"
	)
	for text, want := range map[string]string{
		spoilt(1, "-2"):                "a.swf:1: field 1, job number = -2: " + integer,
		spoilt(2, "-5"):                "a.swf:1: field 2, submit time = -5: " + seconds,
		spoilt(3, "-0.5"):              "a.swf:1: field 3, wait time = -0.5: " + seconds,
		spoilt(4, "NaN"):               "a.swf:1: field 4, run time = NaN: " + seconds,
		spoilt(5, "4.0"):               "a.swf:1: field 5, allocated processors = 4.0: " + integer,
		spoilt(6, "Inf"):               "a.swf:1: field 6, processor time used = Inf: " + seconds,
		spoilt(7, "0x10"):              "a.swf:1: field 7, memory used = 0x10: " + kilobytes,
		spoilt(8, "-1.0"):              "a.swf:1: field 8, requested processors = -1.0: " + integer,
		spoilt(9, "1e999"):             "a.swf:1: field 9, requested time = 1e999: " + seconds,
		spoilt(10, "-1e9"):             "a.swf:1: field 10, requested memory = -1e9: " + kilobytes,
		spoilt(11, "done"):             "a.swf:1: field 11, status = done: " + integer,
		spoilt(12, "{3}"):              "a.swf:1: field 12, user = {3}: " + integer,
		spoilt(13, "9007199254740993"): "a.swf:1: field 13, group = 9007199254740993: " + integer,
		spoilt(14, "1e3"):              "a.swf:1: field 14, executable = 1e3: " + integer,
		spoilt(15, "\x1b[2J"):          `a.swf:1: field 15, queue = "\x1b[2J": ` + integer,
		spoilt(16, `"1"`):              `a.swf:1: field 16, partition = "\"1\"": ` + integer,
		spoilt(17, strings.Repeat("7", 99)): "a.swf:1: field 17, preceding job = " +
			strings.Repeat("7", 57) + "...: " + integer,
		spoilt(18, "é"):              "a.swf:1: field 18, think time = é: " + seconds,
		"7":                          "a.swf:1: field 2, submit time is missing: " + all,
		line[:len(line)-3]:           "a.swf:1: field 18, think time is missing: " + all,
		line + " 7":                  "a.swf:1: field 19 = 7: want the end of the line after 18 fields",
		line + " ; done":             "a.swf:1: field 19 = ;: want the end of the line after 18 fields",
		";\r\n\n\t\n" + line + "\nx": "a.swf:5: field 1, job number = x: " + integer,
		spoilt(4, "x") + " 7 8":      "a.swf:1: field 4, run time = x: " + seconds,
		"\n\ufeff" + line:            `a.swf:2: field 1, job number = "\ufeff1": ` + integer,
		line + "\n" + strings.Repeat("1 ", 32768): "a.swf:2: want a line of at most 65535 bytes, not " +
			strings.Repeat("1 ", 28) + "1...",
		";" + strings.Repeat("\x00", 65535): "a.swf:1: want a line of at most 65535 bytes, not \";" +
			strings.Repeat(`\x00`, 13) + `\x0...`,
		"job,submit\n" + line: `a.swf:1: want 18 numbers separated by blanks, not job,submit; this ` +
			`looks like CSV, not SWF: see "A log of my own" in docs/guide/dispatch.md`,
		"job;submit;run\n" + line: `a.swf:1: want 18 numbers separated by blanks, not job;submit;run; ` +
			`this looks like CSV, not SWF: see "A log of my own" in docs/guide/dispatch.md`,
		"JobID|User|State\n" + line: `a.swf:1: want 18 numbers separated by blanks, not JobID|User|State; ` +
			`this looks like the output of sacct --parsable, not SWF: see "A log of my own" in docs/guide/dispatch.md`,
		"JobID  User\n" + line: `a.swf:1: want 18 numbers separated by blanks, not JobID  User; this ` +
			`looks like a table with a heading, not SWF: see "A log of my own" in docs/guide/dispatch.md`,
		"servers:\n" + line: `a.swf:1: want 18 numbers separated by blanks, not servers:; this ` +
			`looks like YAML, not SWF: see "A log of my own" in docs/guide/dispatch.md`,
		"{\"jobs\": []}\n" + line: `a.swf:1: want 18 numbers separated by blanks, not "{\"jobs\": []}"; ` +
			`this looks like JSON, not SWF: see "A log of my own" in docs/guide/dispatch.md`,
		strings.ReplaceAll(line, " ", ", "): "a.swf:1: field 1, job number = 1,: " + integer,
		spoilt(4, "1,5"):                    "a.swf:1: field 4, run time = 1,5: " + seconds,
		strings.Replace(line, " ", "\r", 1): `a.swf:1: field 1, job number = "1\r0": ` + integer,
	} {
		for _, source := range []io.Reader{
			strings.NewReader(text), strings.NewReader(packed(text)),
			bufio.NewReaderSize(strings.NewReader(text), 1<<20),
		} {
			r := swf.NewReader(source, "a.swf")
			var err error
			for err == nil {
				_, err = r.Read()
			}
			if err.Error() != want {
				t.Errorf("%.99q: error\n%v, want\n%s", text, err, want)
			}
			var e *input.Error
			if j, again := r.Read(); again != err || !errors.As(err, &e) || j != (swf.Job{}) {
				t.Errorf("%.99q: then %v, error %v", text, j, again)
			}
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	long := ";\n" + strings.Repeat(line+"\n", 5000)
	p := packed(long)
	for n := 2; n < len(p); n += 1 + n/10 {
		log, err := swf.ReadAll(strings.NewReader(p[:n]), "a.gz")
		if !errors.Is(err, io.ErrUnexpectedEOF) ||
			!regexp.MustCompile(`^a.gz:\d+: unpacking: the file ends early: `).MatchString(err.Error()) ||
			log.Jobs != nil {
			t.Errorf("%d of %d bytes: %d jobs, error %v", n, len(p), len(log.Jobs), err)
		}
	}
	bad := errors.New("disk on fire")
	for _, c := range []struct {
		source io.Reader
		want   error
		says   string
	}{
		{
			strings.NewReader(p[:len(p)-1]), io.ErrUnexpectedEOF,
			"a:5002: unpacking: the file ends early: unexpected EOF",
		},
		{
			strings.NewReader(p[:len(p)-8] + "xxxx" + p[len(p)-4:]), gzip.ErrChecksum,
			"a:5002: unpacking: gzip: invalid checksum",
		},
		{strings.NewReader(p + strings.Repeat("x", 20)), gzip.ErrHeader, "a:5002: unpacking: gzip: invalid header"},
		{
			strings.NewReader("\x1f\x8b" + strings.Repeat("x", 20)), gzip.ErrHeader,
			"a:1: unpacking: gzip: invalid header",
		},
		{iotest.ErrReader(bad), bad, "a:1: disk on fire"},
		// the error persists
		{iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(line))), iotest.ErrTimeout, "a:1: timeout"},
		{io.MultiReader(strings.NewReader("1"), iotest.ErrReader(bad)), bad, "a:1: disk on fire"},
		{io.MultiReader(strings.NewReader(line), iotest.ErrReader(bad)), bad, "a:1: disk on fire"},
		{io.MultiReader(strings.NewReader(line+"\n"), iotest.ErrReader(bad)), bad, "a:2: disk on fire"},
		{io.MultiReader(strings.NewReader(p[:9]), iotest.ErrReader(bad)), bad, "a:1: unpacking: disk on fire"},
		{io.MultiReader(strings.NewReader(p[:100]), iotest.ErrReader(bad)), bad, "unpacking: disk on fire"},
		{
			io.MultiReader(strings.NewReader(p[:len(p)-8]), iotest.ErrReader(bad)), bad,
			"a:5002: unpacking: disk on fire",
		},
	} {
		log, err := swf.ReadAll(c.source, "a")
		if !errors.Is(err, c.want) || !strings.HasSuffix(err.Error(), c.says) || log.Jobs != nil {
			t.Errorf("%d jobs, error %v, want %s", len(log.Jobs), err, c.says)
		}
	}
}

// Comments may take at most 1 MiB, with one byte per line end, even if jobs are between them. The
// writer has the same limit.
func TestManyComments(t *testing.T) {
	const lines = 1 << 19
	for rest, want := range map[string]string{
		"":          "",
		line + "\n": "",
		";": "a:524289: comments = 1048578 bytes: want at most 1048576 bytes in total, line " +
			"ends included",
		line + "\n\n ;x\r\n" +
			line: "a:524291: comments = 1048580 bytes: want at most 1048576 bytes in total, line ends included",
	} {
		text := strings.Repeat(";\n", lines) + rest
		for _, text := range []string{text, packed(text)} {
			log, err := swf.ReadAll(strings.NewReader(text), "a")
			if want == "" && (err != nil || len(log.Header) != lines) ||
				want != "" && (err == nil || err.Error() != want) {
				t.Errorf("then %q: %d comments, %v, want %q", rest, len(log.Header), err, want)
			}
		}
	}
	w := swf.NewWriter(io.Discard)
	for range lines {
		if err := w.Comment(";"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Comment(";x"); err == nil ||
		err.Error() != "comments = 1048579 bytes: want at most 1048576 bytes in total, line ends included" {
		t.Error(err)
	}
}

func TestAll(t *testing.T) {
	text := ";a\n" + line + "\n;b\n" + spoilt(1, "2") + "\n;c\n" + spoilt(1, "3") + "\nx\n" + line
	r := swf.NewReader(strings.NewReader(text), "log")
	if got := r.Header(); got != nil {
		t.Errorf("header %q before reading", got)
	}
	var seen []int64
	for j, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, j.Number)
		if j.Number == 2 {
			break
		}
	}
	if got, want := r.Header(), []string{";a", ";b"}; !slices.Equal(got, want) {
		t.Errorf("header %q, want %q", got, want)
	}
	errs := 0
	for j, err := range r.All() {
		if err != nil {
			errs++
		}
		seen = append(seen, j.Number)
	}
	if want := []int64{1, 2, 3, 0}; !slices.Equal(seen, want) || errs != 1 {
		t.Errorf("jobs %v, want %v; %d errors, want 1", seen, want, errs)
	}
}

// anyJob draws each field from its whole range.
func anyJob() *rapid.Generator[swf.Job] {
	integer := rapid.OneOf(rapid.Int64Range(-1, 1<<53), rapid.Int64Range(-1, 20), rapid.Just(int64(1<<53)))
	real := rapid.OneOf(
		rapid.Float64Range(0, math.MaxFloat64), rapid.Float64Range(0, 1e6),
		rapid.Just(-1.0), rapid.Just(math.Copysign(0, -1)),
		rapid.Map(rapid.Int64Range(0, 1e6), func(v int64) float64 { return float64(v) }),
		rapid.Map(rapid.Int64Range(0, 1e9), func(v int64) float64 { return float64(v) / 100 }),
	)
	return rapid.Custom(func(t *rapid.T) (j swf.Job) {
		for _, place := range places(&j) {
			switch place := place.(type) {
			case *int64:
				*place = integer.Draw(t, "integer")
			case *float64:
				*place = real.Draw(t, "real")
			}
		}
		return j
	})
}

// Both readers read back what was written.
func TestWriteRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := swf.Log{
			Header: rapid.SliceOfN(rapid.StringMatching("[ \t]{0,3};[^\n\r\x00]{0,20}"), 0, 5).Draw(t, "header"),
			Jobs:   rapid.SliceOfN(anyJob(), 0, 5).Draw(t, "jobs"),
		}
		text := written(t, want)
		got, err := swf.ReadAll(strings.NewReader(text), "log")
		if err != nil || !slices.Equal(got.Header, want.Header) || !slices.Equal(got.Jobs, want.Jobs) {
			t.Fatalf("error %v, %s", err, cmp.Diff(want, got))
		}
		again, err := naive(text)
		if err != nil || !cmp.Equal(again, got) {
			t.Fatalf("naive: error %v, %s", err, cmp.Diff(got, again))
		}
		if strings.ContainsAny(strings.Join(strings.Split(text, "\n")[len(want.Header):], ""), "eE+") {
			t.Fatalf("exponents in\n%s", text)
		}
	})
}

// Both readers agree on texts that are almost logs.
func TestRandomText(t *testing.T) {
	word := rapid.OneOf(
		rapid.StringMatching(`[0-9]{1,5}`), rapid.StringMatching(`[0-9]{1,20}\.[0-9]{0,20}`), rapid.Just("-1"),
		rapid.SampledFrom([]string{
			"-1.0", "-2", "1e3", "9007199254740992", "9007199254740993", "", "{", "NaN", "0x1", "+1",
			".5", "7e-320", "\ufeff",
		}),
	)
	gap := rapid.SampledFrom([]string{" ", "  ", "\t", " \t ", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 4).Draw(t, "lines") {
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				text.WriteString(rapid.StringMatching("[ \t]*;.{0,9}").Draw(t, "comment"))
			case 1:
				text.WriteString(rapid.StringMatching("[ \t\v]{0,3}").Draw(t, "blank"))
			case 2:
				text.WriteString(rapid.String().Draw(t, "rubbish"))
			default:
				columns := rapid.SampledFrom([]int{18, 18, 18, 18, 18, 18, 17, 19}).Draw(t, "columns")
				odd := rapid.IntRange(0, 2*columns).Draw(t, "odd")
				for i := range columns {
					v := strconv.Itoa(rapid.IntRange(-1, 99).Draw(t, "integer"))
					if i == odd {
						v = word.Draw(t, "word")
					}
					text.WriteString(v)
					text.WriteString(rapid.SampledFrom([]string{" ", " ", "\t"}).Draw(t, "blank"))
					if i == odd {
						text.WriteString(gap.Draw(t, "gap"))
					}
				}
			}
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end"))
		}
		want, wantErr := naive(text.String())
		got, err := swf.ReadAll(strings.NewReader(text.String()), "log")
		if (err == nil) != (wantErr == nil) || !cmp.Equal(got, want) {
			t.Fatalf("%q: error %v, naive %v, %s", text.String(), err, wantErr, cmp.Diff(want, got))
		}
	})
}

func TestWriterRefuses(t *testing.T) {
	const (
		integer   = "want an integer from 0 to 2^53, or -1 if unknown"
		seconds   = "want a finite number of seconds >= 0, or -1 if unknown"
		kilobytes = "want a finite number of kilobytes >= 0, or -1 if unknown"
	)
	var b strings.Builder
	w := swf.NewWriter(&b)
	for i, name := range []string{
		"job number", "submit time", "wait time", "run time", "allocated processors", "processor time used",
		"memory used",
		"requested processors", "requested time", "requested memory", "status", "user", "group", "executable", "queue",
		"partition", "preceding job", "think time",
	} {
		j := job()
		var values []string
		switch place := places(&j)[i].(type) {
		case *int64:
			for _, v := range []int64{-2, math.MinInt64, 1<<53 + 1, math.MaxInt64} {
				*place = v
				values = append(values, fmt.Sprintf("%d: "+integer, v), fmt.Sprint(w.Write(j)))
			}
		case *float64:
			unit := seconds
			if strings.Contains(name, "memory") {
				unit = kilobytes
			}
			for _, v := range []float64{-2, -0.5, -1e-320, math.NaN(), math.Inf(1), math.Inf(-1)} {
				*place = v
				values = append(values, fmt.Sprintf("%v: "+unit, v), fmt.Sprint(w.Write(j)))
			}
		}
		for k := 0; k < len(values); k += 2 {
			if want := fmt.Sprintf("field %d, %s = %s", i+1, name, values[k]); values[k+1] != want {
				t.Errorf("got  %s\nwant %s", values[k+1], want)
			}
		}
	}
	for comment, want := range map[string]string{
		"":      `comment = "": want a line that starts with ";"`,
		"x;":    `comment = "x;": want a line that starts with ";"`,
		"\n;":   `comment = "\n;": want a line that starts with ";"`,
		";a\n1": `comment = ";a\n1": want one line without its end`,
		";\n":   `comment = ";\n": want one line without its end`,
		";\r":   `comment = ";\r": want one line without its end`,
		";" + strings.Repeat("x", 65535): `comment = ";` + strings.Repeat("x", 55) +
			"...: want a line of at most 65535 bytes",
	} {
		if err := w.Comment(comment); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if err := w.Write(job()); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil || b.String() != line+"\n" {
		t.Errorf("%q, error %v", b.String(), err)
	}
}

// A failing writer reports its error no later than Flush.
func TestWriterFails(t *testing.T) {
	bad := errors.New("disk full")
	r, pipe := io.Pipe()
	r.CloseWithError(bad)
	w := swf.NewWriter(pipe)
	for range 1000 {
		if err := w.Write(job()); err != nil && !errors.Is(err, bad) {
			t.Fatal(err)
		}
		if err := w.Comment(";"); err != nil && !errors.Is(err, bad) {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
}

// A repeater repeats a text.
type repeater struct {
	text string
	left int // number of bytes left
	at   int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	for n < len(p) && r.left > 0 {
		k := copy(p[n:], r.text[r.at:min(len(r.text), r.at+r.left)])
		n, r.left, r.at = n+k, r.left-k, (r.at+k)%len(r.text)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A log of 200,000 jobs, 10 MB, takes no more memory than its buffers. Other allocations of the
// program are far below one byte per job, which would be 200 KB.
func TestMemory(t *testing.T) {
	const jobs = 200_000
	text := line + "\n"
	plain := func() io.Reader { return &repeater{text: text, left: jobs * len(text)} }
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := io.Copy(w, plain()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]io.Reader{"plain": plain(), "packed": &z} {
		r := swf.NewReader(source, name)
		if _, err := r.Read(); err != nil { // creates the buffers
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		count := 1
		for _, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		runtime.ReadMemStats(&after)
		if count != jobs {
			t.Errorf("%s: %d jobs, want %d", name, count, jobs)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 100_000 {
			t.Errorf("%s: %d bytes allocated, want at most 100,000", name, bytes)
		}
	}
}

// Neither reading nor writing a job allocates, for integers and for decimals. The mean is rounded
// down, so each run reads one job of each kind.
func TestNoAllocations(t *testing.T) {
	kinds := []string{line, spoilt(4, "0.12345678901234567"), spoilt(2, "1.5e3"), ""}
	r := swf.NewReader(strings.NewReader(strings.Repeat(strings.Join(kinds, "\n")+"\n", 1000)), "log")
	w := swf.NewWriter(io.Discard)
	each := func() {
		for range 3 {
			j, err := r.Read()
			if err == nil {
				err = w.Write(j)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	each()
	if n := testing.AllocsPerRun(900, each); n != 0 {
		t.Errorf("%v allocations in three jobs, want 0", n)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", line, ";\n" + line + "\r\n\n" + spoilt(4, "1e-3"), line + " 7", spoilt(2, "NaN"),
		"\ufeff;\xff\r\r\n", spoilt(1, "9007199254740993"),
		spoilt(3, "-1.0"), spoilt(14, "-01"), ";\x00K\x00", "\xff\xfe;\x00", "\n;\x00K\x00",
	} {
		f.Add(text)
		f.Add(packed(text))
		f.Add(packed(text)[:20])
	}
	f.Fuzz(func(t *testing.T, text string) {
		log, err := swf.ReadAll(strings.NewReader(text), "log")
		isPacked := strings.HasPrefix(text, "\x1f\x8b")
		if !isPacked {
			want, wantErr := naive(text)
			if (err == nil) != (wantErr == nil) || !cmp.Equal(log, want) {
				t.Fatalf("error %v, naive %v, %s", err, wantErr, cmp.Diff(want, log))
			}
			again, errAgain := swf.ReadAll(strings.NewReader(packed(text)), "log")
			if fmt.Sprint(err) != fmt.Sprint(errAgain) || !cmp.Equal(log, again) {
				t.Fatalf("error %v, packed %v", err, errAgain)
			}
		}
		if err != nil {
			if log.Jobs != nil || log.Header != nil || !regexp.MustCompile(`(?s)^log:\d+: .`).MatchString(err.Error()) {
				t.Fatalf("%v despite error %v", log, err)
			}
			return
		}
		for _, j := range log.Jobs {
			for i, place := range places(&j) {
				v, ok := place.(*float64)
				if ok && *v != swf.Unknown && !(*v >= 0 && *v <= math.MaxFloat64) {
					t.Fatalf("field %d is %v", i+1, *v)
				}
			}
		}
		if len(log.Header) > 0 && looksWide(log.Header[0]) { // below an empty line or a byte order mark
			if err := swf.NewWriter(io.Discard).Comment(log.Header[0]); err == nil {
				t.Fatalf("%q is written first", log.Header[0])
			}
			return
		}
		again, err := swf.ReadAll(strings.NewReader(written(t, log)), "log")
		if err != nil || !cmp.Equal(again, log) {
			t.Fatalf("written and read: error %v, %s", err, cmp.Diff(log, again))
		}
	})
}
