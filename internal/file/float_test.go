package file_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/file"
	"productform/internal/input"
)

// A sample has a part that is not a pointer.
type sample struct{ Size size }

type size struct{ Grams float64 }

var sampleFile = file.Description[sample]{Want: "a sample", Fields: []file.Field[sample]{
	file.Object("size", "size of the sample", func(s *sample) **size { p := &s.Size; return &p },
		&file.Description[size]{Want: "an object with grams", Fields: []file.Field[size]{
			file.Float("grams", "its weight", func(s *size) *float64 { return &s.Grams }, "a weight", input.Work),
		}}),
}}

func readGrams(t fataler, text string) (float64, error) {
	root, err := file.Read(strings.NewReader("size: {grams: "+text+"}"), file.YAML, "a sample")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sampleFile.Read(root)
	if err != nil {
		return 0, err
	}
	return s.Size.Grams, nil
}

// A number of any length and size is read as by strconv, or rejected if strconv overflows or
// returns 0.
func TestFloatIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?`).Draw(t, "digits") +
			rapid.SampledFrom([]string{"", "e-", "e"}).Draw(t, "sign")
		if strings.HasSuffix(text, "e") || strings.HasSuffix(text, "e-") {
			text += strconv.Itoa(rapid.IntRange(0, 350).Draw(t, "exponent"))
		}
		want, overflow := strconv.ParseFloat(text, 64)
		digits, _, _ := strings.Cut(text, "e")
		isTiny := want == 0 && strings.ContainsAny(digits, "123456789")
		got, err := readGrams(t, text)
		var bad *input.Error
		switch refused := overflow != nil || isTiny; {
		case refused != (err != nil), err == nil && got != want:
			t.Fatalf("%s is read as %v, %v, want %v", text, got, err, want)
		case err != nil && (!errors.As(err, &bad) || bad.Path != "size.grams" || bad.Want != "a weight"):
			t.Fatalf("%s: %v", text, err)
		}
	})
}

func TestFloatRange(t *testing.T) {
	_, err := readGrams(t, "heavy")
	if err == nil || !strings.Contains(err.Error(), `size.grams = "heavy": want a weight (`) {
		t.Errorf("%v", err)
	}
	for _, grams := range []float64{-1, 1e-51, 1e51, math.NaN(), math.Inf(1)} {
		err := sampleFile.CheckAll(&sample{size{grams}})
		if want := ": want a number of seconds in [1e-50, 1e50], or 0"; err == nil ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v: %v", grams, err)
		}
	}
	if err := sampleFile.CheckAll(&sample{size{1e50}}); err != nil {
		t.Error(err)
	}
	if want := "weight, in [1e-50, 1e50], or 0\n"; !strings.HasSuffix(sampleFile.Help(), want) {
		t.Errorf("%s does not end in %s", sampleFile.Help(), want)
	}
}
