package network_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network"
)

// always returns branches to visits of class 0 with probability 1.
func always(visit int) []network.Branch {
	return []network.Branch{{Class: 0, Visit: visit, Probability: big.NewRat(1, 1)}}
}

// drawTandem returns a closed chain that thinks and then passes one to three queues.
func drawTandem(t *rapid.T) (m *network.Model, queues int) {
	queues = rapid.IntRange(1, 3).Draw(t, "queues")
	m = &network.Model{Stations: []network.Station{{Name: "think", Discipline: network.Delay}}}
	class := network.Class{Name: "user", Population: rapid.IntRange(1, 5).Draw(t, "jobs"), Visits: []network.Visit{
		{Station: 0, MeanSize: drawFraction(t, "think"), Next: always(1)}}}
	for j := 1; j <= queues; j++ {
		m.Stations = append(m.Stations, network.Station{Name: fmt.Sprint("q", j), Discipline: network.FCFS,
			Rate: drawFraction(t, "rate")})
		class.Visits = append(class.Visits, network.Visit{
			Station:  j,
			MeanSize: drawFraction(t, "size"),
			Next:     always((j + 1) % (queues + 1)),
		})
	}
	m.Classes = []network.Class{class}
	return m, queues
}

// A tandemState has the numbers of other jobs that think and that are at each queue, the queue of
// the job that is followed, and the number of jobs ahead of it there.
type tandemState struct {
	jobs      [4]int
	at, ahead int
}

// A literalTandem follows a job through the queues, with all others, from its arrival.
type literalTandem struct {
	rates  []float64 // rate of a thinking job, then of each queue
	found  map[tandemState]float64
	states []tandemState
	known  map[tandemState]bool
}

func newLiteralTandem(m *network.Model, queues int) *literalTandem {
	l := &literalTandem{found: map[tandemState]float64{}, known: map[tandemState]bool{}}
	for i, v := range m.Classes[0].Visits {
		rate := 1.0
		if m.Stations[i].Rate != nil {
			rate, _ = m.Stations[i].Rate.Float64()
		}
		size, _ := v.MeanSize.Float64()
		l.rates = append(l.rates, rate/size)
	}
	sum := 0.0
	var place func(s tandemState, j, left int, weight float64)
	place = func(s tandemState, j, left int, weight float64) {
		if j > queues { // the others think
			s.jobs[0] = left
			s.ahead = s.jobs[1]
			for n := 1; n <= left; n++ {
				weight /= l.rates[0] * float64(n)
			}
			l.found[s] = weight
			sum += weight
			l.add(s, queues)
			return
		}
		for n := 0; n <= left; n++ {
			s.jobs[j] = n
			place(s, j+1, left-n, weight)
			weight /= l.rates[j]
		}
	}
	place(tandemState{at: 1}, 1, m.Classes[0].Population-1, 1)
	for s := range l.found {
		l.found[s] /= sum
	}
	return l
}

// add lists all states that follow.
func (l *literalTandem) add(s tandemState, queues int) {
	if l.known[s] {
		return
	}
	l.known[s] = true
	l.states = append(l.states, s)
	l.moves(s, func(to tandemState, _ float64) {
		if to.at <= queues {
			l.add(to, queues)
		}
	})
}

// moves calls do with each move: a thinking job joins the first queue, and the first job of a queue
// joins the next queue or, after the last one, thinks.
func (l *literalTandem) moves(s tandemState, do func(to tandemState, rate float64)) {
	queues := len(l.rates) - 1
	if n := s.jobs[0]; n > 0 {
		to := s
		to.jobs[0]--
		to.jobs[1]++
		do(to, float64(n)*l.rates[0])
	}
	for j := 1; j <= queues; j++ {
		to := s
		switch {
		case s.at == j && s.ahead == 0:
			if to.at++; to.at <= queues {
				to.ahead = s.jobs[to.at]
			}
		case s.jobs[j] == 0:
			continue
		default:
			to.jobs[j]--
			to.jobs[(j+1)%(queues+1)]++
			if s.at == j {
				to.ahead--
			}
		}
		do(to, l.rates[j])
	}
}

// tail returns P(R > t) by uniformization.
func (l *literalTandem) tail(t float64) float64 {
	place := map[tandemState]int{}
	for i, s := range l.states {
		place[s] = i
	}
	q := 0.0
	type move struct {
		to   int
		rate float64
	}
	moves := make([][]move, len(l.states))  // without those that complete the path of the followed job
	stays := make([]float64, len(l.states)) // total rate of the moves, then the probability of no move
	for i, s := range l.states {
		sum := 0.0
		l.moves(s, func(to tandemState, rate float64) {
			sum += rate
			if k, ok := place[to]; ok {
				moves[i] = append(moves[i], move{k, rate})
			}
		})
		stays[i] = sum
		q = max(q, sum)
	}
	for i, sum := range stays {
		stays[i] = 1 - sum/q
	}
	now, next, found := make([]float64, len(l.states)), make([]float64, len(l.states)), make([]float64, len(l.states))
	for i, s := range l.states {
		now[i], found[i] = 1, l.found[s]
	}
	sum, logWeight := 0.0, -q*t
	for n := 1; n < 60+int(q*t+12*math.Sqrt(q*t)); n++ {
		weight := math.Exp(logWeight)
		logWeight += math.Log(q * t / float64(n))
		for i := range now {
			sum += weight * found[i] * now[i]
			next[i] = stays[i] * now[i]
			for _, m := range moves[i] {
				next[i] += m.rate / q * now[m.to]
			}
		}
		now, next = next, now
	}
	return sum
}

// Response times of tandems match a chain of all jobs, in which the job meets other numbers of jobs
// at each queue than when it arrived at the first.
func TestTandemResponseMatchesLiteralChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, queues := drawTandem(t)
		l := newLiteralTandem(m, queues)
		solved, err := network.Solve(t.Context(), m, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		mean := solved.Chains[0].MeanResponseTime.Float
		times := []*big.Rat{new(big.Rat), new(big.Rat).SetFloat64(mean / 3), new(big.Rat).SetFloat64(2 * mean)}
		levels := []*big.Rat{half, big.NewRat(9, 10)}
		r, err := network.ResponseTimes(t.Context(), m, levels, times, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		// Bounds widen with the number of steps, a few for each event in twice the mean.
		events := 2 * mean * (float64(m.Classes[0].Population)*l.rates[0] + slices.Max(l.rates[1:]))
		for i, at := range times {
			at, _ := at.Float64()
			low, high := r[0].Tails[i].Bounds()
			if want := l.tail(at); !oracle.Near(r[0].Tails[i].Float, want, 1e-10) || high-low > 1e-12+2e-14*events {
				t.Fatalf("P(R > %v) = %v in [%v, %v], want %v", at, r[0].Tails[i].Float, low, high, want)
			}
		}
		for i, level := range levels {
			level, _ := level.Float64()
			if got := l.tail(r[0].Quantiles[i].Float); math.Abs(got-(1-level)) > 1e-9 {
				t.Fatalf("quantile %v has the tail %v", r[0].Quantiles[i].Float, got)
			}
		}
	})
}

// With another chain at other stations, tails integrate to the mean response time.
func TestResponsesIntegrateToTheirMean(t *testing.T) {
	m := readNetwork(t, `
stations: [{name: think, discipline: delay}, {name: a, discipline: fcfs}, {name: b, discipline: fcfs},
  {name: c, discipline: sharing}]
classes:
- name: user
  population: 6
  visits:
  - {station: think, mean_size: 3, next: {a: 1}}
  - {station: a, mean_size: 1, next: {b: 1}}
  - {station: b, mean_size: 3/2, next: {think: 1}}
- name: other
  population: 3
  visits: [{station: think, mean_size: 1, next: {c: 1}}, {station: c, next: {think: 1}}]
`)
	solved, err := network.Solve(t.Context(), m, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	const steps, end = 400, 120.
	var times []*big.Rat
	for i := range steps + 1 {
		times = append(times, new(big.Rat).SetFloat64(end*float64(i)/steps))
	}
	r, err := network.ResponseTimes(t.Context(), m, nil, times, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if r[1] != nil {
		t.Errorf("processor sharing has a response time")
	}
	sum := 0.0
	for i, x := range r[0].Tails { // Simpson's rule
		weight := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			weight = 1
		}
		sum += weight * x.Float * end / steps / 3
	}
	if want := solved.Chains[0].MeanResponseTime.Float; !oracle.Near(sum, want, 1e-4) {
		t.Errorf("tails integrate to %v, want %v", sum, want)
	}
}

func readNetwork(t *testing.T, text string) *network.Model {
	t.Helper()
	m, err := network.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The response time of jobs that make one visit is its delay; jobs that make several, or any
// number, have no formula.
func TestResponseTimesOfRoutes(t *testing.T) {
	const head = `
stations: [{name: think, discipline: delay}, {name: rest, discipline: delay}, {name: a, discipline: fcfs, servers: 2},
  {name: b, discipline: fcfs}, {name: c, discipline: order, servers: 3, limits: [{classes: [user], most: 2}]}]
classes:
- {name: user, population: 5, visits: [`
	for visits, known := range map[string]int{ // station whose delay is the response time, 0 if unknown
		"{station: think, next: {a: 1}}, " +
			"{station: a, next: {think: 1/2, rest: 1/2}}, {station: rest, next: {think: 1}}": 2,
		"{station: think, next: {c: 1}}, {station: c, next: {think: 1}}":                             4,
		"{station: a, next: {think: 1}}, {station: think, next: {a: 1}}":                             2,
		"{station: think, next: {a: 1}}, {station: a, next: {think: 1/2, a: 1/2}}":                   0,
		"{station: think, next: {a: 1}}, {station: a, next: {b: 1}}, {station: b, next: {think: 1}}": 0,
		"{station: think, next: {a: 1/2, rest: 1/2}}, " +
			"{station: a, next: {think: 1}}, {station: rest, next: {think: 1}}": 0,
		"{station: think, next: {a: 1}}, " +
			"{station: a, next: {think: 1/2, rest: 1/2}}, {station: rest, next: {a: 1}}": 0,
		"{station: think, visits: 1}, {station: a, visits: 1}": 0,
		"{station: a, visits: 1}":                              0,
	} {
		text := head + visits + "]}\n"
		if known != 4 {
			text = strings.Replace(text, ",\n  {name: b, discipline: fcfs}, "+
				"{name: c, discipline: order, servers: 3, limits: [{classes: [user], most: 2}]}]",
				", {name: b, discipline: fcfs}]", 1)
		}
		m := readNetwork(t, text)
		r, err := network.ResponseTimes(t.Context(), m, []*big.Rat{half}, nil, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if known == 0 {
			if r[0] != nil {
				t.Errorf("%s: %v, want no response time", visits, r[0])
			}
			continue
		}
		d, err := network.Delays(t.Context(), m, network.DelayQuestion{Station: known, Levels: []*big.Rat{half}},
			network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if r[0] == nil || r[0].Quantiles[0].Float != d[0].Quantiles[0].Float {
			t.Errorf("%s: %v, want %v", visits, r[0], d[0].Quantiles)
		}
	}
}
