package gang

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// A line is a model as literal Markov chains. Their states list the classes of the jobs in the
// order of arrival, a letter each.
type line struct{ m *cluster.Model }

// inService returns the number of jobs in service: the longest prefix that fits.
func (l line) inService(jobs string) int {
	free := make([]int, len(l.m.Servers))
	for s, row := range l.m.Servers {
		free[s] = row.Size()
	}
	for i, c := range []byte(jobs) {
		for _, need := range l.m.Classes[c-'a'].Needs {
			if free[need.Server] -= need.Choose; free[need.Server] < 0 {
				return i
			}
		}
	}
	return len(jobs)
}

// limit returns the throughput of the line that never ends: its states are the jobs in service and
// the job that blocks, and the class of each new job is drawn when those before it fit.
func (l line) limit() *big.Rat {
	total := new(big.Rat)
	for _, c := range l.m.Classes {
		total.Add(total, c.ArrivalRate)
	}
	var extend func(jobs string, p *big.Rat, visit func(string, *big.Rat))
	extend = func(jobs string, p *big.Rat, visit func(string, *big.Rat)) {
		if l.inService(jobs) < len(jobs) {
			visit(jobs, p)
			return
		}
		for i, c := range l.m.Classes {
			if c.ArrivalRate.Sign() > 0 {
				x := new(big.Rat).Quo(c.ArrivalRate, total)
				extend(jobs+string(rune('a'+i)), x.Mul(x, p), visit)
			}
		}
	}
	rate := func(c byte) *big.Rat { return new(big.Rat).Inv(l.m.MeanSizeOf(int(c - 'a'))) }
	var start string
	extend("", big.NewRat(1, 1), func(s string, _ *big.Rat) { start = s })
	chain := oracle.NewChain(start, func(s string, move func(string, *big.Rat)) {
		for i := range len(s) - 1 {
			extend(s[:i]+s[i+1:], rate(s[i]), move)
		}
	})
	return chain.Mean(func(s string) *big.Rat {
		sum := new(big.Rat)
		for _, c := range []byte(s[:len(s)-1]) {
			sum.Add(sum, rate(c))
		}
		return sum
	})
}

// waits returns the mean number of waiting jobs and the wait probability of each class if arrivals
// that find cut jobs are lost.
func (l line) waits(cut int) (waiting, wait []float64) {
	states, p := oracle.FloatChain("", func(s string, move func(string, float64)) {
		for k, c := range l.m.Classes {
			if len(s) < cut && c.ArrivalRate.Sign() > 0 {
				move(s+string(rune('a'+k)), num.Nearest(c.ArrivalRate))
			}
		}
		for j := range l.inService(s) {
			move(s[:j]+s[j+1:], 1/num.Nearest(l.m.MeanSizeOf(int(s[j]-'a'))))
		}
	})
	waiting, wait = make([]float64, len(l.m.Classes)), make([]float64, len(l.m.Classes))
	for i, s := range states {
		for _, c := range []byte(s[l.inService(s):]) {
			waiting[c-'a'] += p[i]
		}
		for k := range l.m.Classes {
			if with := s + string(rune('a'+k)); l.inService(with) < len(with) {
				wait[k] += p[i]
			}
		}
	}
	return waiting, wait
}

// drawGang draws a model of up to three classes, whose literal chains are small.
func drawGang(t *rapid.T, resources, most, classes int, equal bool) *cluster.Model {
	m := &cluster.Model{Service: cluster.Gang}
	for r := range rapid.IntRange(1, resources).Draw(t, "resources") {
		m.Servers = append(m.Servers, cluster.Server{
			Name:  fmt.Sprint("s", r),
			Count: rapid.IntRange(1, most).Draw(t, "count"),
		})
	}
	rat := func(name string) *big.Rat {
		return big.NewRat(rapid.Int64Range(1, 6).Draw(t, name), rapid.Int64Range(1, 6).Draw(t, name+" of"))
	}
	mean := rat("mean")
	for k := range rapid.IntRange(1, classes).Draw(t, "classes") {
		c := cluster.Class{Name: fmt.Sprint("c", k), ArrivalRate: rat("rate"), MeanSize: mean}
		if !equal {
			c.MeanSize = rat("mean")
		}
		used := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "always")
		for s, row := range m.Servers {
			if s == used || rapid.Bool().Draw(t, "uses") {
				need := rapid.IntRange(1, row.Count).Draw(t, "need")
				c.Needs = append(c.Needs, cluster.Choice{Server: s, Choose: need})
			}
		}
		m.Classes = append(m.Classes, c)
	}
	return m
}

// The limit is that of the literal chain: fractions are equal, and bounds contain them.
func TestLimitMatchesLiteralChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawGang(t, 2, 4, 2, rapid.Bool().Draw(t, "equal"))
		if rapid.Bool().Draw(t, "more classes") {
			m = drawGang(t, 1, 3, 3, rapid.Bool().Draw(t, "equal"))
		}
		want := line{m}.limit()
		for _, engine := range []num.Engine{num.Exact, num.Float} {
			r, err := CheckStability(t.Context(), m, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			if engine == num.Exact && r.ThroughputLimit.Exact.Cmp(want) != 0 {
				t.Errorf("%s: limit %v, want %v", r.Method, r.ThroughputLimit.Exact, want)
			}
			if engine == num.Float {
				checkBounds(t, *r.ThroughputLimit, want, 1e-9)
			}
		}
	})
}

// checkBounds fails unless the bounds on a value contain a number and have at most a relative
// width.
func checkBounds(t *rapid.T, v num.Value, want *big.Rat, width float64) {
	if v.Exact != nil {
		if v.Exact.Cmp(want) != 0 {
			t.Errorf("%v, want %v", v.Exact, want)
		}
		return
	}
	low, _ := v.Low.Rat(nil)
	high, _ := v.High.Rat(nil)
	e, _ := v.Interval()
	if low.Cmp(want) > 0 || high.Cmp(want) < 0 || !(e.RelWidth() <= width) {
		t.Errorf("between %v and %v, want %v", v.Low, v.High, num.Nearest(want))
	}
}

// Waits approach those of the literal chain as its cut rises.
func TestWaitsMatchLiteralChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawGang(t, 2, 4, 2, false)
		r, err := CheckStability(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		load := big.NewRat(rapid.Int64Range(1, 8).Draw(t, "load"), 40)
		m = m.Scale(load.Mul(load, r.CriticalScale.Exact))
		got, err := Solve(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !(got.RelativeErrorBound < 1e-9) {
			t.Errorf("error bound %v", got.RelativeErrorBound)
		}
		last := math.Inf(1)
		for _, cut := range []int{6, 9} {
			waiting, wait := line{m}.waits(cut)
			worst := 0.0
			for k, c := range got.Classes {
				worst = max(worst, math.Abs(c.WaitProbability.Float-wait[k]), math.Abs(c.MeanQueue.Float-waiting[k]))
			}
			// at most 20 % of the limit: beyond the jobs in service, each job more is a fifth as
			// likely
			if !(worst < 0.1 && worst <= last) {
				t.Errorf("cut %d: difference %v, want at most %v", cut, worst, last)
			}
			last = worst/2 + 1e-13
		}
	})
}
