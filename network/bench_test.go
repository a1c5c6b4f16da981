package network_test

import (
	"fmt"
	"math/big"
	"testing"

	"productform/network"
	"productform/num"
)

// manyChains returns a network of a think time and stations with different demands of each chain;
// every third has two to four servers if servers is set.
func manyChains(chains, jobs, stations int, servers bool) *network.Model {
	m := &network.Model{}
	for i := range stations {
		s := network.Station{Name: fmt.Sprint("s", i), Discipline: network.Sharing}
		switch {
		case i == 0:
			s.Discipline = network.Delay
		case servers && i%3 == 0:
			s.Servers = 2 + i%3 + i%2
		}
		m.Stations = append(m.Stations, s)
	}
	for c := range chains {
		k := network.Class{Name: fmt.Sprint("c", c), Population: jobs}
		for i := range stations {
			size := big.NewRat(int64(1+(i*7+c*5)%11), 10)
			if i == 0 {
				size = big.NewRat(int64(50+c), 1)
			}
			k.Visits = append(k.Visits, network.Visit{Station: i, MeanSize: size, Count: big.NewRat(1, 1)})
		}
		m.Classes = append(m.Classes, k)
	}
	return m
}

// oneChain returns a network of a think time and stations with 1 to 16 servers.
func oneChain(jobs, stations int) *network.Model {
	m := manyChains(1, jobs, stations, false)
	for i := 1; i < stations; i++ {
		m.Stations[i].Servers = 1 + 3*(i%6)
		m.Classes[0].Visits[i].MeanSize = big.NewRat(int64(m.Stations[i].Servers*(100+i)), 1000)
	}
	m.Classes[0].Visits[0].MeanSize = big.NewRat(1000, 1)
	return m
}

// repair returns a model of machines that are up for a mean time of 20, and repairers who take a
// mean time of 1.
func repair(machines, repairers int) *network.Model {
	m := manyChains(1, machines, 2, false)
	m.Stations[1].Servers = repairers
	m.Classes[0].Visits[0].MeanSize, m.Classes[0].Visits[1].MeanSize = big.NewRat(20, 1), big.NewRat(1, 1)
	return m
}

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name   string
		model  *network.Model
		engine num.Engine
	}{
		{"chains=3/jobs=30/stations=5", manyChains(3, 30, 5, false), num.Float},
		{"chains=3/jobs=30/stations=5/servers=4", manyChains(3, 30, 5, true), num.Float},
		{"chains=3/jobs=30/stations=5/engine=enclose", manyChains(3, 30, 5, false), num.Enclose},
		{"chains=3/jobs=30/stations=5/engine=exact", manyChains(3, 30, 5, false), num.Exact},
		{"chains=4/jobs=50/stations=10", manyChains(4, 50, 10, false), num.Float},
		{"chains=1/jobs=1000/stations=20", oneChain(1000, 20), num.Float},
		{"chains=1/jobs=100000/stations=20", oneChain(100000, 20), num.Float},
		{"chains=1/jobs=1000000/repairers=100000", repair(1000000, 100000), num.Float},
	} {
		b.Run(c.name, func(b *testing.B) {
			var r *network.Result
			for b.Loop() {
				var err error
				if r, err = network.Solve(b.Context(), c.model, network.Settings{Engine: c.engine}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(r.Bytes/(1<<20), "MiB-stated")
			b.ReportMetric(r.RelativeErrorBound, "bound")
		})
	}
}
