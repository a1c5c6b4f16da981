package cluster

import (
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
)

// Expand returns the equivalent model of single servers, for a model that has passed [Model.Check].
// A group of n servers becomes n servers "rack/1", ..., "rack/n". A class that chooses d of them
// becomes C(n, d) classes "a/1", ..., one for each combination (for each tuple of combinations, if
// it chooses from several groups), which share its rate equally. Rows without a choice are copied.
// Since each job draws its servers independently, the classes arrive as independent Poisson
// processes. All stationary measures are thus those of m, summed over the classes and servers of a
// row.
//
// serverRow[s] and classRow[i] are the rows of m from which server s and class i of e originate.
// The error is a *[num.InputError] for the service [Gang], or for the first list that would exceed
// limit rows.
func (m *Model) Expand(limit int) (e *Model, serverRow, classRow []int, err error) {
	if err := m.RequireService(AllServers, OneServer); err != nil {
		return nil, nil, nil, err
	}
	e = &Model{MeanSize: m.MeanSize, Service: m.Service, MeanPatience: m.MeanPatience, Patience: m.Patience,
		MeanTimeout: m.MeanTimeout}
	first := make([]int, len(m.Servers)) // first server of e of each row
	names := newNames(m.Servers, func(s Server) string { return s.Name })
	for row, s := range m.Servers {
		first[row] = len(e.Servers)
		if s.Size() > limit-len(e.Servers) {
			return nil, nil, nil, input.Errorf(input.Index("servers", row),
				fmt.Sprintf("a group of %d", s.Size()), "a total of at most %d servers",
				limit)
		}
		for k := range s.Size() {
			name := s.Name
			if s.Size() > 1 {
				name = names.part(s.Name, k+1)
			}
			e.Servers = append(e.Servers, Server{Name: name, Count: 1, Capacity: s.Capacity})
			serverRow = append(serverRow, row)
		}
	}
	names = newNames(m.Classes, func(c Class) string { return c.Name })
	for row, c := range m.Classes {
		count, ok := m.combinations(c, limit-len(e.Classes))
		if !ok {
			return nil, nil, nil, input.Errorf(input.Index("classes", row)+".servers",
				m.serverNames(c.Servers), "at most %d combinations of servers in all classes",
				limit)
		}
		rate := new(big.Rat).Quo(c.ArrivalRate, new(big.Rat).SetInt64(int64(count)))
		servers := m.firstCombination(c, first)
		for k := range count {
			name := c.Name
			if count > 1 {
				name = names.part(c.Name, k+1)
			}
			e.Classes = append(e.Classes, Class{
				Name:         name,
				ArrivalRate:  rate,
				MeanSize:     c.MeanSize,
				Servers:      On(servers...),
				Priority:     c.Priority,
				MeanPatience: c.MeanPatience,
				Patience:     c.Patience,
				MeanTimeout:  c.MeanTimeout,
			})
			classRow = append(classRow, row)
			m.nextCombination(c, first, servers)
		}
	}
	return e, serverRow, classRow, nil
}

// combinations returns the number of ways to choose the servers of a job, if it is within limit.
func (m *Model) combinations(c Class, limit int) (count int, ok bool) {
	count = 1
	for _, choice := range c.Servers {
		n, d := m.Servers[choice.Server].Size(), choice.Choose
		d = min(d, n-d)
		ways := big.NewInt(1)
		for k := range d { // C(n, k+1) = C(n, k) (n-k)/(k+1) grows as k+1 <= n/2
			ways.Mul(ways, big.NewInt(int64(n-k)))
			ways.Quo(ways, big.NewInt(int64(k+1)))
			if ways.Cmp(big.NewInt(int64(limit))) > 0 {
				return 0, false
			}
		}
		if count > limit/int(ways.Int64()) {
			return 0, false
		}
		count *= int(ways.Int64())
	}
	return count, count <= limit
}

// firstCombination returns the first combination: the first servers of each chosen row.
func (m *Model) firstCombination(c Class, first []int) []int {
	var servers []int
	for _, choice := range c.Servers {
		for k := range choice.Choose {
			servers = append(servers, first[choice.Server]+k)
		}
	}
	return servers
}

// nextCombination advances to the next tuple of combinations, the last row fastest; each
// combination increases, in lexicographic order.
func (m *Model) nextCombination(c Class, first, servers []int) {
	end := len(servers)
	for _, choice := range slices.Backward(c.Servers) {
		start, high := first[choice.Server], first[choice.Server]+m.Servers[choice.Server].Size()
		part := servers[end-choice.Choose : end]
		end -= choice.Choose
		for k := len(part) - 1; k >= 0; k-- {
			if part[k] < high-len(part)+k {
				part[k]++
				for j := k + 1; j < len(part); j++ {
					part[j] = part[j-1] + 1
				}
				return
			}
		}
		for k := range part { // after the last combination, restart at the first and advance the previous row
			part[k] = start + k
		}
	}
}

// names holds the names of the rows of a model, to find new ones.
type names map[string]bool

func newNames[Row any](rows []Row, name func(Row) string) names {
	taken := make(names, len(rows))
	for _, row := range rows {
		taken[name(row)] = true
	}
	return taken
}

// part returns a unique name for part k of a row.
func (taken names) part(row string, k int) string {
	name := fmt.Sprintf("%s/%d", row, k)
	for taken[name] {
		name += "'"
	}
	taken[name] = true
	return name
}
