package gibbs

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

// newTestRandom returns a random generator for a seed.
func newTestRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// farFromUniform returns √n times the largest distance of the empirical distribution of values from
// the uniform one on [0, 1]: above 2.2 once in ten thousand times (Kolmogorov).
func farFromUniform(values []float64) float64 {
	slices.Sort(values)
	n, far := float64(len(values)), 0.0
	for k, u := range values {
		far = max(far, u-float64(k)/n, float64(k+1)/n-u)
	}
	return far * math.Sqrt(n)
}

// drawRises draws rises and the rate after the last one. In half of the cases, the first rates are
// negative.
func drawRises(r *rand.Rand) (rises []rise, last float64) {
	t := 0.0
	for range r.IntN(6) {
		t += r.ExpFloat64()
		rises = append(rises, rise{t, 2 * r.ExpFloat64() * float64(r.IntN(2))})
	}
	return rises, 0.2 + r.Float64()
}

// logDensity evaluates the log density of the conditional distribution literally, up to a constant.
func logDensity(rises []rise, last, t float64) float64 {
	log := -last * t
	for _, r := range rises {
		log += r.by * min(t, r.at)
	}
	return log
}

// Draws have the distribution that the trapezoid rule computes from the log density, and the
// returned density at 0 agrees with it.
func TestConditional(t *testing.T) {
	random := newTestRandom(1)
	var p conditional
	var far []float64
	for range 60 {
		rises, last := drawRises(random)
		const points, width = 20_000, 2e-3
		sums, sum := make([]float64, points), 0.0 // up to each point
		density := func(k int) float64 { return math.Exp(logDensity(rises, last, float64(k)*width)) }
		for k := 1; k < points; k++ {
			sum += (density(k-1) + density(k)) / 2 * width
			sums[k] = sum
		}
		sum += density(points-1) / last
		var u []float64
		for range 400 {
			x, atZero := p.draw(rises, last, random)
			if math.Abs(atZero*sum-1) > 1e-3 {
				t.Fatalf("%v, last %v: density %v at 0, want %v", rises, last, atZero, 1/sum)
			}
			if k := int(x / width); k < points-1 {
				part := x/width - float64(k)
				u = append(u, (sums[k]+part*(sums[k+1]-sums[k]))/sum)
			} else {
				u = append(u, 1-random.Float64()*(sum-sums[points-1])/sum)
			}
		}
		far = append(far, farFromUniform(u))
	}
	if slices.Sort(far); far[len(far)-1] > 2.2 || far[len(far)/2] > 1 {
		t.Errorf("distances from the distribution by quadrature %.2v", far)
	}
}

// Rates of all magnitudes give finite times, each in its piece.
func TestConditionalExtremes(t *testing.T) {
	random := newTestRandom(2)
	var p conditional
	for range 20_000 {
		rises, last := drawRises(random)
		size := math.Exp(20 * random.NormFloat64())
		for k := range rises {
			rises[k].at *= math.Exp(10 * random.NormFloat64())
			rises[k].by *= size
		}
		sortRises(rises)
		last *= size
		x, atZero := p.draw(rises, last, random)
		if !(x >= 0 && x <= math.MaxFloat64 && atZero >= 0 && atZero <= last*(1+1e-12)) {
			t.Fatalf("%v, last %v: %v, density %v at 0", rises, last, x, atZero)
		}
	}
}

// Long lists of rises are sorted like short ones, and so are merged lists.
func TestSortRises(t *testing.T) {
	random := newTestRandom(3)
	for n := range 60 {
		var list []rise
		for range n {
			list = append(list, rise{random.Float64(), 1})
		}
		sortRises(list[:n/3])
		sortRises(list[n/3:])
		list = merge(nil, list[:n/3], list[n/3:])
		if len(list) != n ||
			!slices.IsSortedFunc(list, func(a, b rise) int { return int(math.Copysign(1, a.at-b.at)) }) {
			t.Errorf("%v", list)
		}
	}
}

// drawParts draws a model and returns its only part, and the same model with all draws of servers
// expanded; nil if it has several parts.
func drawParts(t *rapid.T) (a *part, out *cluster.Model) {
	m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: 4, Count: 4, Stable: true})
	components, err := m.Reduce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(components) != 1 {
		return nil, nil
	}
	m = &components[0].Model
	if a, err = newPart(m); err != nil {
		t.Fatal(err)
	}
	out, _, _, err = m.Expand(10_000)
	if err != nil {
		t.Fatal(err)
	}
	return a, out
}

// firstDeath returns the time of the first death among servers.
func firstDeath(c cluster.Class, life []float64) float64 {
	end := math.Inf(1)
	for _, choice := range c.Servers {
		end = min(end, life[choice.Server])
	}
	return end
}

// The rises of a server match the joint density, expanded over all classes and all draws of
// servers.
func TestUpdateMatchesJointDensity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, out := drawParts(t)
		if a == nil {
			return
		}
		random := newTestRandom(rapid.Uint64().Draw(t, "seed"))
		s := newSampler(a, a.startOrders[0], random)
		for range 2 {
			if err := s.sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		joint := func() float64 { // the logarithm of the density, up to a constant
			log := 0.0
			for k, server := range out.Servers {
				log -= float(server.Capacity) * a.unit * s.life[k]
			}
			for _, c := range out.Classes {
				log += float(c.ArrivalRate) * a.unit * firstDeath(c, s.life)
			}
			return log
		}
		for server := range s.life {
			s.update(int32(server))
			rises, kept := slices.Clone(s.rises), s.life[server]
			at := func(x float64) float64 { s.life[server] = x; return joint() - logDensity(rises, a.last[server], x) }
			base := at(0)
			for range 3 {
				if x := 3 * random.ExpFloat64(); math.Abs(at(x)-base) > 1e-10*(1+x) {
					t.Fatalf("server %d: %v off at %v", server, at(x)-base, x)
				}
			}
			s.life[server] = kept
		}
	})
}

// Measures of an order equal sums over all classes and all draws of servers.
func TestOrderMatchesSumOverDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, out := drawParts(t)
		if a == nil {
			return
		}
		s := newSampler(a, a.startOrders[1], newTestRandom(rapid.Uint64().Draw(t, "seed")))
		if err := s.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := len(s.deaths)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9*math.Abs(want)+1e-12 {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		place := make([]float64, n)
		for k, d := range s.deaths {
			place[d.server] = float64(k)
			near("life", s.life[d.server], d.at)
		}
		jobs, delays := 0.0, 0.0
		for k := range n {
			working, load := new(big.Rat), new(big.Rat)
			for server, c := range out.Servers {
				if int(place[server]) >= k {
					working.Add(working, c.Capacity)
				}
			}
			for _, c := range out.Classes {
				if int(firstDeath(c, place)) >= k {
					load.Add(load, c.ArrivalRate)
				}
			}
			slack := new(big.Rat).Sub(working, load)
			near("capacity", s.working[k], float(working)*a.unit)
			near("load", s.load[k], float(load)*a.unit)
			near("slack", s.slack[k], float(slack)*a.unit)
			jobs += float(load.Quo(load, slack))
		}
		for _, c := range out.Classes {
			for k := range int(firstDeath(c, place)) + 1 {
				delays += float(c.ArrivalRate) * a.unit / s.slack[k]
			}
		}
		got, _ := s.jobs()
		near("mean jobs", got, jobs)
		near("mean jobs by delays", delays, jobs)
		of, sum := make([]float64, len(a.classes)), 0.0
		s.times(s.ahead, of)
		within := make([]float64, n)
		for i, c := range a.classes {
			sum += c.rate * of[i]
			s.survivingFraction(int32(i), within)
			mean := 0.0
			for k, w := range within {
				mean += w / s.slack[k]
			}
			near("mean delay by parts within", mean, of[i])
		}
		near("mean jobs by classes", sum, jobs)
	})
}
