package oneserver

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// A room is a cluster in which at most n jobs wait and others are lost, as a literal Markov chain.
// Its states list the idle servers, longest idle first, and the classes of the waiting jobs, longest
// waiting first, a letter each.
type room struct {
	m *cluster.Model
	n int
}

func (r room) serves(class, server byte) bool {
	return slices.ContainsFunc(r.m.Classes[class-'a'].Servers, func(c cluster.Choice) bool {
		return c.Server == int(server-'A')
	})
}

// A move is a transition, and the class and the server of the job that begins; server is 0 if none
// does.
type move struct {
	to            string
	rate          float64
	class, server byte
}

// moves returns the transitions of a state.
func (r room) moves(state string) (list []move) {
	idle, waiting, _ := strings.Cut(state, "|")
	for i, c := range r.m.Classes {
		class := byte('a' + i)
		rate, _ := c.ArrivalRate.Float64()
		at := strings.IndexFunc(idle, func(s rune) bool { return r.serves(class, byte(s)) })
		switch {
		case at >= 0:
			list = append(list, move{idle[:at] + idle[at+1:] + "|" + waiting, rate, class, idle[at]})
		case len(waiting) < r.n:
			list = append(list, move{idle + "|" + waiting + string(rune(class)), rate, class, 0})
		}
	}
	for s, row := range r.m.Servers {
		server := byte('A' + s)
		if strings.IndexByte(idle, server) >= 0 {
			continue
		}
		rate, _ := row.Capacity.Float64()
		at := strings.IndexFunc(waiting, func(c rune) bool { return r.serves(byte(c), server) })
		if at < 0 {
			list = append(list, move{idle + string(rune(server)) + "|" + waiting, rate, 0, 0})
			continue
		}
		list = append(list, move{idle + "|" + waiting[:at] + waiting[at+1:], rate, waiting[at], server})
	}
	for at := range waiting { // exponential patience
		if mean, _ := r.m.PatienceOf(int(waiting[at] - 'a')); mean != nil {
			list = append(list, move{idle + "|" + waiting[:at] + waiting[at+1:], 1 / num.Nearest(mean), 0, 0})
		}
	}
	return list
}

// solve returns the states of the room and their stationary probabilities.
func (r room) solve(start string) (states []string, p []float64) {
	return oracle.FloatChain(start, func(s string, move func(string, float64)) {
		for _, m := range r.moves(s) {
			move(m.to, m.rate)
		}
	})
}

// TestLiteralChain compares waiting probabilities, mean queues, utilizations and the rates of who
// serves whom with the chain of all orders of idle servers and waiting jobs. The chain loses jobs
// beyond a room, which changes the numbers by at most a few times the probability of a full room.
func TestLiteralChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 2})
		m.Service, m.MeanSize = cluster.OneServer, nil
		m = oracle.ScaleTo(m, oracle.Rats("1/4")[0])
		used := make([]bool, len(m.Servers))
		for _, c := range m.Classes {
			for _, s := range c.Servers {
				used[s.Server] = true
			}
		}
		r := room{m, 8}
		all := ""
		for s := range m.Servers {
			if used[s] {
				all += string(rune('A' + s))
			}
		}
		states, p := r.solve(all + "|")
		n, servers := len(m.Classes), len(m.Servers)
		queue, wait := make([]float64, n), make([]float64, n)
		busy, served := make([]float64, servers), make([]float64, n*servers)
		full := 0.0
		for j, state := range states {
			idle, waiting, _ := strings.Cut(state, "|")
			if len(waiting) == r.n {
				full += p[j]
			}
			for i := range n {
				queue[i] += p[j] * float64(strings.Count(waiting, string(rune('a'+i))))
				if !strings.ContainsFunc(idle, func(s rune) bool { return r.serves(byte('a'+i), byte(s)) }) {
					wait[i] += p[j]
				}
			}
			for s := range servers {
				if used[s] && strings.IndexByte(idle, byte('A'+s)) < 0 {
					busy[s] += p[j]
				}
			}
			for _, move := range r.moves(state) {
				if move.server != 0 {
					served[int(move.class-'a')*servers+int(move.server-'A')] += p[j] * move.rate
				}
			}
		}
		x, err := Solve(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-11+100*full) {
				t.Errorf("%s: %v, want %v; the room is full with probability %.2g", what, got, want, full)
			}
		}
		for i, c := range x.Classes {
			near("wait probability", c.WaitProbability.Float, wait[i])
			near("mean queue", c.MeanQueue.Float, queue[i])
			for s := range m.Servers {
				rate, _ := m.Classes[i].ArrivalRate.Float64()
				near("rate", servedBy(c, m.Servers[s].Name).Float/rate, served[i*servers+s]/rate)
			}
		}
		for s := range x.Servers {
			near("utilization", x.Servers[s].Utilization.Float, busy[s])
		}
		if full > 1e-4 {
			t.Fatalf("the room is full with probability %g", full)
		}
	})
}
