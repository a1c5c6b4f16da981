package loss

import (
	"math/big"
	"slices"
)

// A Model is a system that loses arrivals that do not fit. All numbers are rational and exactly as
// in the file. It has one of four kinds of service: Count, Servers, Rank, or none of these, in
// which case each job is served at rate 1 as soon as it arrives.
type Model struct {
	Count int // equal servers of rate 1, each for one job at a time while the others wait; 0 with another service
	// servers of a compatibility graph: all servers of its class serve a job, or with tokens one of
	// them
	Servers []Server
	// μ(A) of every non-empty set A of classes, nondecreasing in A; models without it keep the key
	// of their simulations
	Rank    []SetRate `json:",omitempty"`
	Room    int       // units that fit into the system, waiting and in service; 0 for any number
	Limits  []Limit   // limits on the units of some classes
	Classes []Class
}

// A Server does Capacity units of work per unit of time.
type Server struct {
	Name     string   // not empty, and unique among the servers
	Capacity *big.Rat // C_s >= 0, > 0 with tokens

	// The maximum number of jobs at the server, if each job uses one server; 0 if all servers of a
	// job serve it. Either all servers have tokens, or none.
	Tokens int

	// equal servers of the row, each with these tokens; 0 means 1, more than one requires tokens
	Count int `json:",omitempty"`
}

// Size returns the number of servers of the row.
func (s *Server) Size() int { return max(s.Count, 1) }

// Expanded returns the model with a row for each server, and the first such row of each row of m.
// Servers of a row have the same name. The model must pass [Model.Check].
func (m *Model) Expanded() (one *Model, first []int) {
	copied := *m
	one = &copied
	one.Servers = nil
	for _, s := range m.Servers {
		first = append(first, len(one.Servers))
		size := s.Size()
		s.Count = 0
		one.Servers = append(one.Servers, slices.Repeat([]Server{s}, size)...)
	}
	if len(one.Servers) == len(m.Servers) {
		return m, first
	}
	one.Classes = slices.Clone(m.Classes)
	for k := range one.Classes {
		c := &one.Classes[k]
		c.Servers = nil
		for _, s := range m.Classes[k].Servers {
			for j := range m.Servers[s].Size() {
				c.Servers = append(c.Servers, first[s]+j)
			}
		}
	}
	return one, first
}

// A SetRate is the total rate while exactly these classes are present.
type SetRate struct {
	Classes []int    // rows of Model.Classes, not empty
	Rate    *big.Rat // μ(A) > 0, work per unit of time
}

// A Limit is the number of units that fit for some classes together.
type Limit struct {
	Classes []int // rows of Model.Classes, not empty
	Most    int   // n_L >= 1
}

// A Class is a kind of job.
type Class struct {
	Name string // not empty, and unique among the classes
	// λ_k >= 0, jobs per unit of time; with Sources the rate of each source that has no job in the
	// system
	ArrivalRate *big.Rat
	Sources     int      // N_k; 0 for arrivals from outside, a Poisson process
	MeanSize    *big.Rat // σ_k > 0, mean work; nil means 1
	Units       int      // b_k, units that a job takes; 0 means 1
	Servers     []int    // rows of Model.Servers that can serve its jobs
}

// units returns b_k.
func (c *Class) units() int { return max(c.Units, 1) }

// work returns w_k = λ_k σ_k.
func (c *Class) work() *big.Rat {
	if c.MeanSize == nil {
		return c.ArrivalRate
	}
	return new(big.Rat).Mul(c.ArrivalRate, c.MeanSize)
}

// hasSets reports whether rates depend on the set of classes present.
func (m *Model) hasSets() bool { return len(m.Servers) > 0 || len(m.Rank) > 0 }

// hasTokens reports whether each job uses one server.
func (m *Model) hasTokens() bool { return len(m.Servers) > 0 && m.Servers[0].Tokens > 0 }
