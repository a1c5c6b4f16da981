package traces_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"productform/sizes"
	"productform/traces"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	r, err := traces.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return text
}

// The text matches the archive, and README.md gives its checksum and the source to be credited.
func TestTextMatchesArchive(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const want = "fcb46fa6462b7ac460963025749f604f28b2e813101edd082a720842e80a7aa8"
	text := read(t, "SDSC-Par-1996")
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("SHA-256 of the text is %s, want %s", got, want)
	}
	if !bytes.Contains(text, []byte("; Acknowledge: Reagan Moore and Allen Downey\n")) {
		t.Error("the header does not name those to acknowledge")
	}
	for _, word := range []string{want, "Reagan Moore and Allen Downey", "Parallel Workloads Archive", "74(10), 2014"} {
		if !bytes.Contains(readme, []byte(word)) {
			t.Errorf("README.md does not say %s", word)
		}
	}
	records := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, ";") && strings.TrimSpace(line) != "" {
			records++
		}
	}
	if records != 32135 {
		t.Errorf("%d records, want 32135", records)
	}
}

// The sums match those of awk, to its six digits. Of 32,135 records 7 have run time 0, and all have
// processors.
func TestSizesOfSDSC(t *testing.T) {
	for _, c := range []struct {
		what      string
		read      func(io.Reader, string) (*sizes.List, error)
		mean, scv float64
	}{
		{"run time", sizes.ReadRunTimes, 8755.10, 3.39561},
		{"work", sizes.ReadWork, 297549, 15.9287},
	} {
		r, err := traces.Open("SDSC-Par-1996")
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.read(r, "SDSC-Par-1996")
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Sizes) != 32128 || list.Skipped != 7 {
			t.Fatalf("%s: %d sizes, %d skipped", c.what, len(list.Sizes), list.Skipped)
		}
		d, err := sizes.NewEmpirical(list.Sizes)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := sizes.Mean(d)
		if err != nil || math.Abs(mean/c.mean-1) > 5e-6 {
			t.Errorf("%s: mean %v, want %v, error %v", c.what, mean, c.mean, err)
		}
		scv, err := sizes.SCV(d)
		if err != nil || math.Abs(scv/c.scv-1) > 5e-6 {
			t.Errorf("%s: squared coefficient of variation %v, want %v, error %v", c.what, scv, c.scv, err)
		}
	}
}

func TestNames(t *testing.T) {
	names := traces.Names()
	if !slices.IsSorted(names) || len(names) == 0 {
		t.Errorf("names %v", names)
	}
	for _, name := range names {
		if len(read(t, name)) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	for _, name := range []string{"", "SDSC", "sdsc-par-1996"} {
		r, err := traces.Open(name)
		if r != nil || err == nil {
			t.Fatalf("%q: %v, error %v", name, r, err)
		}
		for _, known := range names {
			if !strings.Contains(err.Error(), known) {
				t.Errorf("%q: error %v does not name %s", name, err, known)
			}
		}
	}
}

// Half of the jobs of the Paragon at San Diego ran for at most 209 s, three and a half minutes.
func ExampleOpen() {
	log, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	list, err := sizes.ReadRunTimes(log, "SDSC-Par-1996")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := sizes.NewEmpirical(list.Sizes)
	mean, _ := sizes.Mean(d)
	median, _ := d.Quantile(0.5)
	fmt.Printf("%d jobs, %d without a run time, mean %.0f s, median %.0f s\n",
		len(list.Sizes)+list.Skipped, list.Skipped, mean, median)
	// Output: 32135 jobs, 7 without a run time, mean 8755 s, median 209 s
}
