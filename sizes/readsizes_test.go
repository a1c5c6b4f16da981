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

	logs "productform/dispatch/swf"
	"productform/internal/input"
	"productform/traces"
)

const swf = "; Version: 2.2\n" +
	"  1 0 5 120 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n" +
	"  2 9 5  -1 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n\n" +
	"  3 9 5   0 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\r\n" +
	"  4 9 5 0.5 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1"

func TestReadSizes(t *testing.T) {
	for _, c := range []struct {
		text    string
		want    []float64
		skipped int
	}{
		{swf, []float64{120, 0.5}, 2},
		{"; sizes\n3\n\n 1e-3 \r\n2.5\n", []float64{3, 1e-3, 2.5}, 0},
		{"\ufeff7", []float64{7}, 0},
		{"", nil, 0},
	} {
		got, skipped, err := ReadSizes(strings.NewReader(c.text))
		if err != nil || skipped != c.skipped || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %d skipped, error %v", c.text, got, skipped, err)
		}
	}
	for _, c := range []struct{ text, path string }{
		{"1\n0", "line 2"}, {"1\n-1", "line 2"}, {"NaN", "line 1"}, {"1\n\n2\nInf", "line 4"}, {"1e999", "line 1"},
		{"1\nx", "line 2"}, {"1\n1_000", "line 2"}, {"1 2", "line 1"}, {"1\n1 2", "line 2"}, {"1\n" + swf, "line 3"}, {swf + "\n1", "line 7"},
		{strings.Replace(swf, "120", "-2", 1), "line 2, field 4"}, {strings.Replace(swf, "0.5", "NaN", 1), "line 6, field 4"},
		{strings.Replace(swf, "300", "?", 1), "line 2, field 9"}, {swf + " 7", "line 6"},
	} {
		got, _, err := ReadSizes(strings.NewReader(c.text))
		var e *input.Error
		if !errors.As(err, &e) || e.Path != c.path || got != nil {
			t.Errorf("%q: %v, error %v, want one for %s", c.text, got, err, c.path)
		}
	}
	// A line of 1 MiB with its end is read, one byte more is refused, however long the line is.
	for _, c := range []struct {
		line  string
		bytes int
		want  string
	}{
		{" 1", 1<<20 - 3, ""},
		{"; 1", 1<<20 - 4, ""},
		{" 1", 1<<20 - 2, `line 2 = ` + strings.Repeat(" ", 57) + `...: want a line of at most 1048576 bytes, its end included`},
		{"9", 4 << 20, `line 2 = ` + strings.Repeat("9", 57) + `...: want a line of at most 1048576 bytes, its end included`},
		{"\x00", 4 << 20, `line 2 = "` + strings.Repeat(`\x00`, 14) + `...: want a line of at most 1048576 bytes, its end included`},
	} {
		long := "1\n" + strings.Repeat(c.line[:1], c.bytes) + c.line + "\n3"
		for _, text := range []string{long, packed(long)} {
			_, _, err := ReadSizes(strings.NewReader(text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("%d of %q: got %v, want %s", c.bytes, c.line, err, c.want)
			}
		}
	}
}

// A file without end is refused once it has too many sizes.
// Sizes that are no doubles are read as the decimals that they are, and all then; else there are no fractions.
func TestReadExactSizes(t *testing.T) {
	text := func(list []*big.Rat) (all string) {
		for _, x := range list {
			all += x.RatString() + " "
		}
		return all
	}
	job := func(run, processors string) string {
		return "1 0 0 " + run + " " + processors + strings.Repeat(" -1", 13) + "\n"
	}
	for _, c := range []struct {
		file string
		work bool
		want string
	}{
		{"1\n2.5\n3e2\n", false, ""},
		{"1\n0.1\n0x1p-2\n", false, "1 1/10 1/4 "},
		{"9007199254740993\n7\n", false, "9007199254740993 7 "},
		{job("0.1", "3") + job("-1", "2") + job("5", "2"), false, "1/10 5 "},
		{job("0.1", "3") + job("5", "0") + job("5", "2"), true, "3/10 10 "},
	} {
		sizes, exact, _, err := ReadExactSizes(strings.NewReader(c.file), c.work)
		if err != nil || text(exact) != c.want {
			t.Errorf("%q: %s, error %v, want %s", c.file, text(exact), err, c.want)
		}
		for i, x := range exact {
			if v, _ := x.Float64(); v != sizes[i] {
				t.Errorf("%q: %v is read as %v", c.file, x, sizes[i])
			}
		}
	}
}

func TestReadSizesEnds(t *testing.T) {
	const want = "line 10000001 = 7: want the end of the file after 10000000 sizes"
	sizes, skipped, err := ReadSizes(&endless{text: strings.Repeat("7\n", 1000)})
	if sizes != nil || skipped != 0 || err == nil || err.Error() != want {
		t.Errorf("%d sizes, %d skipped, error %v, want %s", len(sizes), skipped, err, want)
	}
}

// An endless reader gives its text over and over.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// What cannot be read on a terminal is quoted.
func TestReadSizesQuotes(t *testing.T) {
	for text, want := range map[string]string{
		"\x00\x01": `"\x00\x01"`, "1\n\x1b[2J": `"\x1b[2J"`, "\xff": `"\xff"`, "two": "two", "1\n2\t3": "2\t3", "é": "é",
		strings.Replace(swf, "300", "\a", 1): `"\a"`,
	} {
		_, _, err := ReadSizes(strings.NewReader(text))
		var e *input.Error
		if !errors.As(err, &e) || e.Value != want {
			t.Errorf("%q: error %v, want the value %s", text, err, want)
		}
	}
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

func TestReadWork(t *testing.T) {
	text := swf + "\n 5 9 5 7 -1 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n 6 9 5 7 0 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n" +
		" 7 9 5 7 1 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n"
	for _, text := range []string{text, packed(text)} {
		got, skipped, err := ReadWork(strings.NewReader(text))
		if err != nil || skipped != 4 || !slices.Equal(got, []float64{480, 2, 7}) {
			t.Errorf("%v, %d skipped, error %v", got, skipped, err)
		}
	}
	if got, skipped, err := ReadWork(strings.NewReader("; nothing\n")); len(got) != 0 || skipped != 0 || err != nil {
		t.Errorf("no jobs: %v, %d skipped, error %v", got, skipped, err)
	}
	for _, c := range []struct{ text, path string }{
		{"1\n2\n", "line 1"}, {swf + "\n1", "line 7"}, {strings.Replace(swf, "120 4", "120 4.5", 1), "line 2, field 5"},
		{strings.Replace(swf, "120 4", "120 -2", 1), "line 2, field 5"}, {strings.Replace(swf, "120", "-2", 1), "line 2, field 4"},
		{strings.Replace(swf, "120", "1e300", 1), "line 2"}, {strings.Replace(swf, "300", "?", 1), "line 2, field 9"},
	} {
		got, _, err := ReadWork(strings.NewReader(c.text))
		var e *input.Error
		if !errors.As(err, &e) || e.Path != c.path || got != nil {
			t.Errorf("%q: %v, error %v, want one for %s", c.text, got, err, c.path)
		}
	}
}

// The reader of whole logs finds the same sizes in a real one.
func TestReadSizesOfALog(t *testing.T) {
	const name = "SDSC-Par-1996"
	open := func() io.Reader { return ok(traces.Open(name)) }
	var sizes, work []float64
	skipped, skippedWork := 0, 0
	for job, err := range logs.NewReader(open(), name).All() {
		if err != nil {
			t.Fatal(err)
		}
		if job.RunTime > 0 {
			sizes = append(sizes, job.RunTime)
		} else {
			skipped++
		}
		if job.RunTime > 0 && job.Processors > 0 {
			work = append(work, job.RunTime*float64(job.Processors))
		} else {
			skippedWork++
		}
	}
	if got, n, err := ReadSizes(open()); err != nil || n != skipped || !slices.Equal(got, sizes) {
		t.Errorf("%d sizes, %d skipped, error %v, want %d and %d", len(got), n, err, len(sizes), skipped)
	}
	if got, n, err := ReadWork(open()); err != nil || n != skippedWork || !slices.Equal(got, work) {
		t.Errorf("%d with work, %d skipped, error %v, want %d and %d", len(got), n, err, len(work), skippedWork)
	}
}

func TestReadPacked(t *testing.T) {
	for _, text := range []string{swf, "3\n1\n", ""} {
		want, skippedWant, err := ReadSizes(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		// A file may have several parts, and come byte by byte.
		for _, p := range []string{packed(text), packed(text) + packed(""), packed(text[:len(text)/2]) + packed(text[len(text)/2:])} {
			got, skipped, err := ReadSizes(iotest.OneByteReader(strings.NewReader(p)))
			if err != nil || skipped != skippedWant || !slices.Equal(got, want) {
				t.Errorf("%q: %v, %d skipped, error %v", text, got, skipped, err)
			}
		}
	}
	good := packed("3\n1\n")
	for _, c := range []struct {
		text string
		want error
		says string
	}{
		{good[:2], io.ErrUnexpectedEOF, "unpacking"}, {good[:10], io.ErrUnexpectedEOF, "line 1, unpacking"},
		{good[:len(good)-1], io.ErrUnexpectedEOF, "line 3, unpacking"},
		{good[:len(good)-5] + "x" + good[len(good)-4:], gzip.ErrChecksum, "line 3, unpacking"},
		{"\x1f\x8b" + strings.Repeat("x", 20), gzip.ErrHeader, "unpacking"}, {good + "x", io.ErrUnexpectedEOF, "line 3, unpacking"},
	} {
		got, skipped, err := ReadSizes(strings.NewReader(c.text))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || got != nil || skipped != 0 {
			t.Errorf("%q: %v, %d skipped, error %v, want %v", c.text, got, skipped, err, c.want)
		}
	}
	var e *input.Error
	if _, _, err := ReadSizes(strings.NewReader(packed("3\n-1\n"))); !errors.As(err, &e) || e.Path != "line 2" {
		t.Errorf("a packed size below 0 has error %v", err)
	}
	// A packed file that ends within a line says so, whatever is left of the line.
	for _, left := range []string{"1 2 3", "-", "12"} {
		p := packed("3\n" + left + "\n")
		got, _, err := ReadSizes(strings.NewReader(p[:len(p)-9-len("\n")])) // without the trailer of 8 bytes, the last block and the end of the line
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "unpacking: the file ends early") || got != nil {
			t.Errorf("%q: %v, error %v", left, got, err)
		}
	}
	cut := packed(swf + strings.Repeat(swf[strings.Index(swf, "\n"):], 100))
	for n := 12; n < len(cut); n += 7 {
		if got, _, err := ReadSizes(strings.NewReader(cut[:n])); !errors.Is(err, io.ErrUnexpectedEOF) || got != nil {
			t.Fatalf("after %d bytes: %v, error %v", n, got, err)
		}
	}
	bad := errors.New("disk on fire")
	for _, start := range []string{"", "1", "1\n2\n3", good[:12]} {
		r := io.MultiReader(strings.NewReader(start), iotest.ErrReader(bad))
		if got, _, err := ReadSizes(r); !errors.Is(err, bad) || got != nil {
			t.Errorf("%q, then an error: %v, error %v", start, got, err)
		}
	}
}

func FuzzReadSizes(f *testing.F) {
	f.Add(swf)
	f.Add("1\n2.5\n;\n3")
	for _, text := range []string{swf, "1\n2.5\n", ""} {
		p := packed(text)
		f.Add(p)
		f.Add(p[:len(p)/2])
		f.Add(p + p)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sizes, skipped, err := ReadSizes(strings.NewReader(text))
		if err != nil && (sizes != nil || skipped != 0) {
			t.Fatalf("sizes %v beside error %v", sizes, err)
		}
		if err == nil && len(sizes) > 0 {
			if _, err := NewEmpirical(sizes); err != nil {
				t.Fatalf("sizes %v do not make a law: %v", sizes, err)
			}
		}
		work, skippedWork, errWork := ReadWork(strings.NewReader(text))
		if errWork != nil && (work != nil || skippedWork != 0) {
			t.Fatalf("work %v beside error %v", work, errWork)
		}
		if errWork == nil && (err != nil || len(work)+skippedWork != len(sizes)+skipped || skippedWork < skipped) {
			t.Fatalf("%d with work and %d without, %d with sizes and %d without, error %v",
				len(work), skippedWork, len(sizes), skipped, err)
		}
		same, exact, _, errExact := ReadExactSizes(strings.NewReader(text), false)
		if !slices.Equal(same, sizes) || (errExact == nil) != (err == nil) || exact != nil && len(exact) != len(sizes) {
			t.Fatalf("%v and %v, errors %v and %v", same, sizes, errExact, err)
		}
		for i, x := range exact {
			if v, _ := x.Float64(); v != sizes[i] {
				t.Fatalf("%v beside %v", x, sizes[i])
			}
		}
		if strings.HasPrefix(text, "\x1f\x8b") {
			return
		}
		again, skippedAgain, errAgain := ReadSizes(strings.NewReader(packed(text)))
		if !slices.Equal(sizes, again) || skipped != skippedAgain || (err == nil) != (errAgain == nil) {
			t.Fatalf("%v, %d skipped, error %v; packed %v, %d, %v", sizes, skipped, err, again, skippedAgain, errAgain)
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
			if got := ok(e.PartialMoment(r, c[0], c[1])); !near(got, want, 1e-15*4) {
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
