package sweep

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"productform/internal/input"
)

// Keys match the hash of explicitly given bytes.
func TestKeyMatchesHashOfParts(t *testing.T) {
	type point struct {
		Load  float64
		Names map[string]int `json:"names"`
	}
	got := key(t, "a<b", 0.1, point{0.5, map[string]int{"b": 1, "a": 2}}, nil)
	text := "\x00\x00\x00\x00\x00\x00\x00\x0a" + `"a\u003cb"` +
		"\x00\x00\x00\x00\x00\x00\x00\x03" + `0.1` +
		"\x00\x00\x00\x00\x00\x00\x00\x22" + `{"Load":0.5,"names":{"a":2,"b":1}}` +
		"\x00\x00\x00\x00\x00\x00\x00\x04" + `null`
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Lists that differ in how they are split, nested, ordered or typed have different keys.
func TestKeySplits(t *testing.T) {
	lists := [][]any{
		{}, {nil}, {""}, {"", ""}, {"abc"}, {"ab", "c"}, {"a", "bc"}, {"a", "b", "c"}, {"abc", ""},
		{"", "abc"}, {"c", "ab"},
		{[]string{"ab", "c"}}, {[]string{"a", "bc"}}, {`"ab","c"`}, {"ab\",\"c"[:2], []string{"c"}},
		{1}, {"1"}, {1, 1}, {11}, {[]int{1, 1}}, {[]int{11}}, {[]int{}}, {[]int(nil), 0}, {0.1},
		{0.1 + 0x1p-56}, {0}, {math.Copysign(0, -1)},
		{map[string]int{"a": 1}}, {map[string]int{"a": 1, "b": 0}}, {true}, {"true"}, {"null"},
		{big.NewRat(1, 3)}, {big.NewRat(1, 3), big.NewRat(1, 3)},
	}
	seen := map[string][]any{}
	for _, list := range lists {
		k := key(t, list...)
		if other, ok := seen[k]; ok {
			t.Errorf("%#v and %#v have one key", list, other)
		}
		seen[k] = list
		if !isHex(k, 64) {
			t.Errorf("%q is not a key", k)
		}
	}
}

// Two lists of texts have the same key if and only if they are equal.
func TestKeyOfTexts(t *testing.T) {
	lists := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune(`",[]0a`)), 0, 3, -1), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := lists.Draw(t, "a"), lists.Draw(t, "b")
		var keys [2]string
		for i, list := range [][]string{a, b} {
			var parts []any
			for _, s := range list {
				parts = append(parts, s)
			}
			var err error
			if keys[i], err = Key(parts...); err != nil {
				t.Fatal(err)
			}
		}
		if (keys[0] == keys[1]) != slices.Equal(a, b) {
			t.Errorf("%q and %q: %v", a, b, keys)
		}
	})
}

func TestKeyOfEqualParts(t *testing.T) {
	half := 0.5
	m := map[string]int{}
	for i := range 100 {
		m[fmt.Sprint(i*37%100)] = i
	}
	want := key(t, m)
	for range 20 {
		if key(t, m) != want {
			t.Fatal("the key of a map depends on its order")
		}
	}
	if key(t, 1) != key(t, 1.0) || key(t, half) != key(t, &half) {
		t.Error("parts with the same JSON have different keys")
	}
}

type base struct{ Shown int }

// Parts that JSON represents completely are accepted, others rejected.
func TestKeyParts(t *testing.T) {
	type hidden struct {
		Shown int
		size  float64
	}
	type tagged struct {
		Shown int
		Name  string `json:"-"`
	}
	type number struct{ N big.Int } // its MarshalJSON needs an address
	cyclic := []any{nil}
	cyclic[0] = cyclic
	var none *hidden
	for _, c := range []struct {
		part any
		want string // text of the error; "" if there is none
	}{
		{big.NewRat(1, 3), ""}, {[]*big.Rat{big.NewRat(1, 3), nil}, ""}, {time.Unix(0, 0).UTC(), ""}, {&number{}, ""},
		{struct{ base }{base{1}}, ""}, {struct{ *base }{&base{1}}, ""}, {tagged{}, ""}, {none, ""},
		{map[int]float64{1: 2}, ""},
		{[]byte("\xff"), ""}, {"\ufffd", ""},
		{math.NaN(), "NaN"}, {[]float64{math.Inf(1)}, "+Inf"}, {func() {}, "func()"}, {make(chan int), "chan"},
		{1i, "complex128"}, {cyclic, "cycle"},
		{hidden{1, 2}, "hidden.size"}, {&hidden{1, 2}, "hidden.size"}, {[]any{1, []hidden{{}}}, "hidden.size"},
		{map[string]any{"a": [1]hidden{}}, "hidden.size"}, {struct{ In hidden }{}, "hidden.size"},
		{number{}, "big.Int.neg"},
		{rand.New(rand.NewPCG(1, 2)), "rand.Rand.src"}, {errors.New("x"), "errorString.s"},
		{"\xff", "UTF-8"}, {map[string]int{"a\xff": 1}, "UTF-8"},
	} {
		k, err := Key(0, c.part)
		if c.want == "" {
			if err != nil {
				t.Errorf("%T: %v", c.part, err)
			}
			continue
		}
		var bad *input.Error
		if k != "" || !errors.As(err, &bad) || bad.Path != "parts[1]" || !strings.Contains(bad.Want, c.want) {
			t.Errorf("%T: %q, %v", c.part, k, err)
		}
	}
}
