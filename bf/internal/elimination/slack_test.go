package elimination

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The slack is the minimum over all sets of servers.
func TestSlackMatchesAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, o := drawWide(t, 8)
		for i := range p.Classes {
			p.Classes[i].Rate = float64(rapid.IntRange(0, 8).Draw(t, "rate")) / 4
		}
		want := math.Inf(1)
		for set := 1; set < 1<<len(p.Capacities); set++ {
			sum := 0.0
			for s, c := range p.Capacities {
				if set>>s&1 == 1 {
					sum += c
				}
			}
			for _, k := range p.Classes {
				inside := true
				for _, s := range k.Servers {
					inside = inside && set>>s&1 == 1
				}
				if inside {
					sum -= k.Rate
				}
			}
			want = min(want, sum)
		}
		if got := p.slack(o); got != want {
			t.Fatalf("slack %v, want %v", got, want)
		}
	})
}
