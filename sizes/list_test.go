package sizes

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/traces"
)

const log = "; Version: 2.2\n" +
	"  1 0 5 120 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n" +
	"  2 9 5  -1 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n\n" +
	"  3 9 5   0 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\r\n" +
	"  4 9 5 0.5 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n" +
	"  5 9 5 7 -1 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n" +
	"  6 9 5 7 0 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1"

type reader func(io.Reader, string) (*List, error)

func TestReadList(t *testing.T) {
	for _, c := range []struct {
		name string
		read reader
		text string
		want List
	}{
		{"list", ReadList, "; sizes\n3\n\n 1.25 \r\n2.5\n", List{Sizes: []float64{3, 1.25, 2.5}}},
		{"byte order mark", ReadList, "\ufeff7", List{Sizes: []float64{7}}},
		{"run times", ReadRunTimes, log, List{Sizes: []float64{120, 0.5, 7, 7}, Skipped: 2}},
		{"work", ReadWork, log, List{Sizes: []float64{480, 2}, Skipped: 4}},
	} {
		// A file may be compressed, consist of several parts, and arrive byte by byte.
		half := len(c.text) / 2
		for _, text := range []string{
			c.text, packed(c.text), packed(c.text) + packed(""), packed(c.text[:half]) + packed(c.text[half:]),
		} {
			got, err := c.read(iotest.OneByteReader(strings.NewReader(text)), "f")
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if !slices.Equal(got.Sizes, c.want.Sizes) || got.Skipped != c.want.Skipped || got.Exact != nil {
				t.Errorf("%s: %v", c.name, got)
			}
		}
	}
}

func TestReadListErrors(t *testing.T) {
	const size, run = "a number in [1e-300, 1e300]", "field 4, run time"
	for _, c := range []struct {
		read reader
		text string
		want input.Error
	}{
		{ReadList, "1\n0", input.Error{Line: 2, Path: "size", Value: "0", Want: size}},
		{ReadList, "1\n\n2\nInf", input.Error{Line: 4, Path: "size", Value: "Inf", Want: size}},
		{ReadList, "1e999", input.Error{Line: 1, Path: "size", Value: "1e999", Want: size}},
		{ReadList, "1\n1_000", input.Error{Line: 2, Path: "size", Value: "1_000", Want: size}},
		{ReadList, "1\nx\a", input.Error{Line: 2, Path: "size", Value: `"x\a"`, Want: size}},
		{ReadList, "duration\n2", input.Error{
			Line:  1,
			Path:  "size",
			Value: "duration",
			Want:  size + "; delete the line of names, or begin it with ;",
		}},
		{ReadList, "job,seconds\n1,2", input.Error{Line: 1, Path: "size", Value: "job,seconds", Want: size +
			", one per line; cut -d',' -f2 takes the second column of a table, and tail -n +2 leaves out the line " +
			"of names"}},
		{ReadList, "1\n3;5", input.Error{Line: 2, Path: "size", Value: "3;5", Want: size +
			", one per line; cut -d';' -f2 takes the second column of a table, and decimals are written with a point"}},
		{ReadList, "1 2", input.Error{Line: 1, Path: "size", Value: "1 2", Want: size + ", one per line"}},
		{ReadList, log, input.Error{
			Line:  2,
			Path:  "size",
			Value: "1 0 5 120 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1",
			Want:  size + "; a log in Standard Workload Format is read as swf:PATH",
		}},
		{ReadList, "; nothing", input.Error{Value: "a file without sizes", Want: "one size per line"}},
		{
			ReadList, "1\n" + strings.Repeat("9", 65536),
			input.Error{Line: 2, Value: strings.Repeat("9", 57) + "...", Want: "a line of at most 65535 bytes"},
		},
		{ReadRunTimes, "1\n2", input.Error{
			Line: 1,
			Path: "field 2, submit time",
			Want: "18 fields in each line, -1 for what is unknown",
		}},
		{
			ReadRunTimes, strings.Replace(log, "120", "-2", 1),
			input.Error{Line: 2, Path: run, Value: "-2", Want: "a finite number of seconds >= 0, or -1 if unknown"},
		},
		{
			ReadRunTimes, strings.Replace(log, "120", "1e301", 1),
			input.Error{Line: 2, Path: "size", Value: "1e+301", Want: size},
		},
		{
			ReadWork, strings.Replace(log, "120", "1e300", 1),
			input.Error{Line: 2, Path: "size", Value: "4e+300", Want: size},
		},
		{
			ReadRunTimes, "; none",
			input.Error{Value: "a log with none", Want: "a log in Standard Workload Format with jobs of known " +
				"run time"},
		},
		{ReadWork, "; none", input.Error{
			Value: "a log with none",
			Want:  "a log in Standard Workload Format with jobs of known run time and processors",
		}},
	} {
		c.want.File = "f"
		for _, text := range []string{c.text, packed(c.text)} {
			got, err := c.read(strings.NewReader(text), "f")
			var e *input.Error
			if !errors.As(err, &e) || *e != c.want || got != nil {
				t.Errorf("%.40q: %v, error %v, want %v", text, got, err, &c.want)
			}
		}
	}
}

// An endless file is rejected once it has too many sizes.
func TestReadListEnds(t *testing.T) {
	want := input.Error{
		File:  "f",
		Line:  10_000_001,
		Value: "one more",
		Want:  "the end of the file after 10000000 sizes",
	}
	var e *input.Error
	if _, err := ReadList(&endless{text: strings.Repeat("7\n", 1000)}, "f"); !errors.As(err, &e) || *e != want {
		t.Errorf("error %v, want %v", err, &want)
	}
}

// If a size is not a double, all sizes are read as exact decimals; otherwise there are no
// fractions.
func TestReadListExactly(t *testing.T) {
	job := func(run, processors string) string {
		return "1 0 0 " + run + " " + processors + strings.Repeat(" -1", 13) + "\n"
	}
	for _, c := range []struct {
		file string
		read reader
		want string
	}{
		{"1\n2.5\n3e2\n", ReadList, ""},
		{"1\n0.1\n0x1p-2\n", ReadList, "1 1/10 1/4 "},
		{"9007199254740993\n7\n", ReadList, "9007199254740993 7 "},
		{job("0.1", "3") + job("-1", "2") + job("5", "2"), ReadRunTimes, "1/10 5 "},
		{job("0.1", "3") + job("5", "0") + job("5", "2"), ReadWork, "3/10 10 "},
	} {
		list, err := c.read(strings.NewReader(c.file), "f")
		if err != nil {
			t.Fatal(err)
		}
		var text string
		for i, x := range list.Exact {
			text += x.RatString() + " "
			if v, _ := x.Float64(); v != list.Sizes[i] {
				t.Errorf("%q: %v is read as %v", c.file, x, list.Sizes[i])
			}
		}
		if text != c.want {
			t.Errorf("%q: %s, want %s", c.file, text, c.want)
		}
	}
}

// An endless reader repeats its text forever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// packed returns the text as a gzip file, without compression.
func packed(text string) string {
	var b bytes.Buffer
	w := ok(gzip.NewWriterLevel(&b, gzip.NoCompression))
	ok(w.Write([]byte(text)))
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// The sizes in a real log match those derived by hand from its jobs.
func TestReadLog(t *testing.T) {
	const name = "SDSC-Par-1996"
	var times, work List
	for job, err := range swf.NewReader(ok(traces.Open(name)), name).All() {
		switch {
		case err != nil:
			t.Fatal(err)
		case job.RunTime <= 0:
			times.Skipped++
			work.Skipped++
			continue
		case job.Processors <= 0:
			work.Skipped++
		default:
			work.Sizes = append(work.Sizes, job.RunTime*float64(job.Processors))
		}
		times.Sizes = append(times.Sizes, job.RunTime)
	}
	if diff := cmp.Diff(&times, ok(ReadRunTimes(ok(traces.Open(name)), name))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&work, ok(ReadWork(ok(traces.Open(name)), name))); diff != "" {
		t.Error(diff)
	}
}

// A failure to unpack or read gives an error, wherever it happens.
func TestReadListDamaged(t *testing.T) {
	good := packed("3\n1\n")
	for _, c := range []struct {
		text string
		want error
		says string
	}{
		{good[:2], io.ErrUnexpectedEOF, "f:1: unpacking: the file ends early"},
		{good[:10], io.ErrUnexpectedEOF, "f:1: unpacking: the file ends early"},
		{good[:len(good)-1], io.ErrUnexpectedEOF, "f:3: unpacking: the file ends early"},
		{good[:len(good)-5] + "x" + good[len(good)-4:], gzip.ErrChecksum, "f:3: unpacking"},
		{"\x1f\x8b" + strings.Repeat("x", 20), gzip.ErrHeader, "f:1: unpacking"},
		{good + "x", io.ErrUnexpectedEOF, "f:3: unpacking: the file ends early"},
	} {
		got, err := ReadList(strings.NewReader(c.text), "f")
		if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), c.says) || got != nil {
			t.Errorf("%q: %v, error %v, want %v", c.text, got, err, c.want)
		}
	}
	// A compressed file that ends within a line gives an error, whatever is left of the line.
	for _, left := range []string{"1 2 3", "-", "12"} {
		p := packed("3\n" + left + "\n")
		p = p[:len(p)-8-5-len("\n")] // without the trailer, the last block and the end of the line
		if got, err := ReadList(strings.NewReader(p), "f"); !errors.Is(err, io.ErrUnexpectedEOF) || got != nil {
			t.Errorf("%q: %v, error %v", left, got, err)
		}
	}
	cut := packed(log + "\n" + log + "\n")
	for n := 12; n < len(cut); n++ {
		if got, err := ReadRunTimes(strings.NewReader(cut[:n]), "f"); !errors.Is(err, io.ErrUnexpectedEOF) ||
			got != nil {
			t.Fatalf("after %d bytes: %v, error %v", n, got, err)
		}
	}
	bad := errors.New("disk on fire")
	for _, start := range []string{"", "1", "1\n2\n3", good[:12]} {
		r := io.MultiReader(strings.NewReader(start), iotest.ErrReader(bad))
		if got, err := ReadList(r, "f"); !errors.Is(err, bad) || got != nil {
			t.Errorf("%q, then an error: %v, error %v", start, got, err)
		}
	}
}

func FuzzReadList(f *testing.F) {
	for _, text := range []string{log, "1\n2.5\n;\n3", ""} {
		f.Add(text)
		f.Add(packed(text))
		f.Add(packed(text)[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, read := range []reader{ReadList, ReadRunTimes, ReadWork} {
			list, err := read(strings.NewReader(text), "f")
			if err != nil {
				if list != nil {
					t.Fatalf("%v with error %v", list, err)
				}
				continue
			}
			if _, err := NewEmpirical(list.Sizes); err != nil {
				t.Fatalf("sizes %v: %v", list.Sizes, err)
			}
			if list.Exact != nil && len(list.Exact) != len(list.Sizes) {
				t.Fatalf("%v beside %v", list.Exact, list.Sizes)
			}
			for i, x := range list.Exact {
				if v, _ := x.Float64(); v != list.Sizes[i] {
					t.Fatalf("%v beside %v", x, list.Sizes[i])
				}
			}
			if i > 0 {
				var jobs int
				for _, err := range swf.NewReader(strings.NewReader(text), "f").All() {
					if jobs++; err != nil {
						t.Fatal(err)
					}
				}
				if jobs != len(list.Sizes)+list.Skipped {
					t.Fatalf("%d jobs, %d sizes and %d skipped", jobs, len(list.Sizes), list.Skipped)
				}
			}
			if strings.HasPrefix(text, "\x1f\x8b") {
				continue
			}
			again, err := read(strings.NewReader(packed(text)), "f")
			if diff := cmp.Diff(
				list, again, cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }),
			); err != nil ||
				diff != "" {
				t.Fatalf("compressed: error %v\n%s", err, diff)
			}
		}
	})
}

// Empirical moments are plain means over the sizes in the interval.
func TestEmpirical(t *testing.T) {
	sizes := []float64{3, 1, 2, 2, 1e6, 1e-3}
	e := ok(NewEmpirical(sizes))
	for _, r := range []float64{-1, 0, 1, 2, 0.5, -3} {
		for _, c := range [][2]float64{{0, 1e9}, {1, 2}, {1.5, 3}, {2, 2}, {3, 1e6}, {1e6, 1e9}, {0, 1e-3}} {
			var want float64
			for _, x := range sizes {
				if c[0] < x && x <= c[1] {
					want += bigPower(x, r) / 6
				}
			}
			if got := ok(e.PartialMoment(r, c[0], c[1])); !oracle.Near(got, want, 1e-15*4) {
				t.Errorf("E[X^%v; %v, %v] = %v, want %v", r, c[0], c[1], got, want)
			}
		}
	}
	for _, c := range [][2]float64{{0, 1e-3}, {1.0 / 6, 1e-3}, {0.17, 1}, {0.5, 2}, {4.0 / 6, 2}, {0.7, 3}, {1, 1e6}} {
		if got := ok(e.Quantile(c[0])); got != c[1] {
			t.Errorf("quantile of %v is %v, want %v", c[0], got, c[1])
		}
	}
}

func bigPower(x, y float64) float64 {
	v, _ := power(bigFloat(x), bigFloat(y)).Float64()
	return v
}
