package main

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"
)

// One class of jobs that need one server is M/M/m; one class that needs all servers is M/M/1.
const gangs = `service: gang
servers: [{name: gpu, count: 4}]
classes:
- {name: one, arrival_rate: 2, servers: [gpu], needs: 1}
- {name: all, arrival_rate: 0.1, servers: [gpu], needs: 4, mean_size: 0.5}
`

// TestGangs compares the answers of stability and solve with the reference answers of package gang.
func TestGangs(t *testing.T) {
	text, err := os.ReadFile("../../gang/testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Cases []struct {
			Name   string
			Model  json.RawMessage
			Answer struct {
				Stable bool
				Limit  string   `json:"throughput_limit"`
				Waits  []string `json:"mean_wait"`
			}
		}
	}
	if err := json.Unmarshal(text, &reference); err != nil {
		t.Fatal(err)
	}
	for _, c := range reference.Cases[:8] {
		var limit struct {
			Verdict string
			Stable  bool
			Service string
			Sizes   string
			Limit   float64 `json:"throughput_limit"`
			Exact   string  `json:"throughput_limit_exact"`
			Low     string  `json:"throughput_limit_low"`
			High    string  `json:"throughput_limit_high"`
		}
		stdout, stderr, status := pfq(string(c.Model), "stability", "-", "--format", "json")
		if err := json.Unmarshal([]byte(stdout), &limit); err != nil || limit.Stable != c.Answer.Stable ||
			limit.Service != "gang" || limit.Sizes != "exponential" || (status == 0) != c.Answer.Stable {
			t.Fatalf("%s: status %d, %v, %s%s", c.Name, status, err, stdout, stderr)
		}
		if want, ok := new(big.Rat).SetString(c.Answer.Limit); ok {
			w, _ := want.Float64()
			if !(math.Abs(limit.Limit-w) <= 1e-9*w) {
				t.Errorf("%s: limit %v, want %v", c.Name, limit.Limit, w)
			}
			if limit.Exact != "" {
				limit.Low, limit.High = limit.Exact, limit.Exact
			}
			low, _ := new(big.Rat).SetString(limit.Low)
			high, ok := new(big.Rat).SetString(limit.High)
			if !ok || low == nil || low.Cmp(want) > 0 || want.Cmp(high) > 0 {
				t.Errorf("%s: limit in [%s, %s], want %v", c.Name, limit.Low, limit.High, want)
			}
		}
		if !c.Answer.Stable {
			continue
		}
		var waits struct {
			Classes []struct {
				Mean float64 `json:"mean_waiting"`
			}
		}
		stdout, stderr, status = pfq(string(c.Model), "solve", "-", "--format", "json")
		if err := json.Unmarshal([]byte(stdout), &waits); err != nil || status != 0 {
			t.Fatalf("%s: status %d, %v, %s", c.Name, status, err, stderr)
		}
		for i, text := range c.Answer.Waits {
			want, ok := new(big.Float).SetString(text)
			if w, _ := want.Float64(); !ok || !(math.Abs(waits.Classes[i].Mean-w) <= 1e-9*w) {
				t.Errorf("%s, class %d: mean waiting %v, want %s", c.Name, i, waits.Classes[i].Mean, text)
			}
		}
	}
}

// TestUnstableGangs checks that both commands report the limit of an unstable model, and that a
// sweep reports the waits at the other factors.
func TestUnstableGangs(t *testing.T) {
	overloaded := strings.Replace(gangs, "arrival_rate: 2", "arrival_rate: 9", 1)
	for _, command := range []string{"stability", "solve"} {
		stdout, stderr, status := pfq(overloaded, command, "-")
		if status != 1 || stderr != "" || !strings.Contains(stdout, "unstable: would be stable") ||
			!strings.Contains(stdout, "\nwaste ") {
			t.Errorf("%s: status %d, %s%s", command, status, stdout, stderr)
		}
	}
	stdout, stderr, status := pfq(gangs, "solve", "-", "--scale", "1,9")
	if status != 1 || stderr != "" || !strings.Contains(stdout, "scale 9: unstable") ||
		!strings.Contains(stdout, "\n1      one ") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// TestBadGangs checks errors about flags that do not apply to gangs, and about commands that reject
// gangs.
func TestBadGangs(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"solve - --percentiles 95", "pfq: --percentiles = 95: want a model with another service"},
		{"solve - --engine exact", "pfq: --engine = exact: want a model with another service"},
		{"solve - --gradients", "pfq: --gradients = true: want a model with another service"},
		{"stability - --by-class", "pfq: --by-class = true: want a model with another service"},
		{"estimate -", `pfq: standard input: service = "gang": want all; pfq solve, pfq stability and pfq simulate`},
	} {
		stdout, stderr, status := pfq(gangs, strings.Fields(c.args)...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%s: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	large := strings.Replace(gangs, "count: 4", "count: 1000", 1)
	large = strings.Replace(large, "needs: 4", "needs: 999", 1)
	if _, stderr, status := pfq(large, "solve", "-"); status != 2 || !strings.Contains(stderr, "pfq stability") ||
		!strings.Contains(stderr, "pfq simulate") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// TestGangsTooLarge requires that an error of solve recommends stability exactly if it accepts the
// model.
func TestGangsTooLarge(t *testing.T) {
	for needs, accepted := range map[string]bool{"30": true, "3000": false} {
		model := strings.NewReplacer("COUNT", needs+"0", "NEEDS", needs).Replace(`service: gang
servers: [{name: s, count: COUNT}]
classes:
  - {name: a, arrival_rate: 0.1, servers: [s], needs: 1}
  - {name: b, arrival_rate: 0.1, servers: [s], needs: 7, mean_size: 2}
  - {name: c, arrival_rate: 0.1, servers: [s], needs: NEEDS, mean_size: 3}
`)
		_, stderr, status := pfq(model, "solve", "-")
		hint := strings.Contains(stderr, "pfq stability has the throughput limit")
		if status != 2 || hint != accepted || !strings.Contains(stderr, "pfq simulate has ") {
			t.Errorf("needs %s: status %d, %s", needs, status, stderr)
		}
		if _, stderr, status := pfq(model, "stability", "-"); (status == 0) != accepted {
			t.Errorf("needs %s: status %d, %s", needs, status, stderr)
		}
	}
}

// TestGangsNearLimit warns of waits whose bound exceeds the tolerance, and rejects waits without proved
// digits. An error about a number beyond the range of float64 names its line.
func TestGangsNearLimit(t *testing.T) {
	const one = "service: gang\nservers: [{name: s, count: 4}]\n" +
		"classes: [{name: a, arrival_rate: RATE, servers: [s], needs: 2}]\n"
	for _, c := range []struct {
		rate, want string
		status     int
	}{
		{"1.99999", "pfq: warning: the error bound ", 0},
		{"1.999999999999", "pfq: standard input: classes = arrival rates of 0.99999999999", 2},
		{"1, mean_size: 1e400", "pfq: standard input:3: classes[0].mean_size = 1e400: want ", 2},
	} {
		stdout, stderr, status := pfq(strings.Replace(one, "RATE", c.rate, 1), "solve", "-")
		if status != c.status || (status == 0) == (stdout == "") || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%s: status %d, %q, %q", c.rate, status, stdout, stderr)
		}
	}
}
