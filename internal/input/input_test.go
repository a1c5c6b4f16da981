package input_test

import (
	"io"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
)

func TestPaths(t *testing.T) {
	long := strings.Repeat("é", 50)
	for _, c := range []struct{ got, want string }{
		{input.Index("classes", 3), "classes[3]"},
		{input.Field("", "name"), "name"},
		{input.Field("classes[3]", "name"), "classes[3].name"},
		{input.Field("demand", "gpu mem"), `demand["gpu mem"]`},
		{input.Field("demand", `a"b`), `demand["a\"b"]`},
		{input.Field("demand", "7"), `demand["7"]`},
		{input.Field("", ""), `[""]`},
		{input.Field("demand", long), `demand["` + long[:2*37] + `..."]`},
		{input.Inside("jobs[1]", input.Errorf("tasks", 0, "some")).Error(), "jobs[1].tasks = 0: want some"},
		{input.Inside("jobs[1]", input.Errorf("", 0, "some")).Error(), "jobs[1] = 0: want some"},
		{input.Inside("jobs[1]", io.EOF).Error(), "EOF"},
		{input.Quote(long[:2*40]), `"` + long[:2*40] + `"`},
		{input.Quote(long[:2*41]), `"` + long[:2*37] + `..."`},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// The first name is accepted; each of the others has one fault.
func TestCheckName(t *testing.T) {
	names := map[string]int{}
	for i, c := range []struct{ name, want string }{
		{"a", ""},
		{"b", ""},
		{"a", `rows[2].name = "a": want a unique name; rows[0] has this one`},
		{"", `rows[3].name = "": want a name, not empty`},
		{"\xff", `rows[4].name = "\xff": want a name in UTF-8 without control characters`},
		{"a\n", `rows[5].name = "a\n": want a name in UTF-8 without control characters`},
		{"a\u202eb", `rows[6].name = "a\u202eb": want a name in UTF-8 without control characters`},
		{"\u2066", `rows[7].name = "\u2066": want a name in UTF-8 without control characters`},
		{"a\u2028b", `rows[8].name = "a\u2028b": want a name in UTF-8 without control characters`},
		{"nä 数\u200d", ""},
	} {
		if got := message(input.CheckName(names, "rows", i, c.name)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestCheckNumber(t *testing.T) {
	power := func(bits uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), bits) }
	for _, c := range []struct {
		x               *big.Rat
		within, message string
	}{
		{big.NewRat(0, 1), input.Nonnegative, ""},
		{big.NewRat(0, 1), input.Positive, "x = 0: want a number > 0"},
		{big.NewRat(-1, 2), input.Nonnegative, "x = -1/2: want a number >= 0"},
		{big.NewRat(-1, 2), input.Positive, "x = -1/2: want a number > 0"},
		{nil, input.Positive, "x is missing: want a number > 0"},
		{new(big.Rat).SetInt(power(input.MaxBits - 1)), input.Positive, ""},
		{new(big.Rat).SetInt(power(input.MaxBits)), input.Positive,
			"x = a fraction of 16385 over 1 bits: want at most 16384 bits in numerator and denominator"},
		{new(big.Rat).SetFrac(big.NewInt(1), power(input.MaxBits)), input.Positive,
			"x = a fraction of 1 over 16385 bits: want at most 16384 bits in numerator and denominator"},
	} {
		if got := message(input.CheckNumber("x", c.x, c.within)); got != c.message {
			t.Errorf("got %q, want %q", got, c.message)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Plain words of at most 40 characters are written as they are.
func TestPlainKeys(t *testing.T) {
	plain := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,39}$`)
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_]{0,43}`), rapid.StringMatching(`[@-{/-:_.]{0,3}`), rapid.String(),
		).Draw(t, "key")
		want := `p[` + input.Quote(key) + `]`
		if plain.MatchString(key) {
			want = "p." + key
		}
		if got := input.Field("p", key); got != want {
			t.Fatalf("%q: got %s, want %s", key, got, want)
		}
	})
}
