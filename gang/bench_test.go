package gang

import (
	"fmt"
	"math/big"
	"testing"

	"productform/cluster"
)

// gangOf returns a model of one group of servers whose classes have these needs, mean sizes and
// shares of an arrival rate of 1.
func gangOf(servers int, needs []int, means, shares []string) *cluster.Model {
	m := &cluster.Model{Service: cluster.Gang, Servers: []cluster.Server{{Name: "s", Count: servers}}}
	for k, w := range needs {
		mean, _ := new(big.Rat).SetString(means[k%len(means)])
		share, _ := new(big.Rat).SetString(shares[k%len(shares)])
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", k), ArrivalRate: share, MeanSize: mean,
			Needs: []cluster.Choice{{Server: 0, Choose: w}}})
	}
	return m
}

// stepsFrom returns the integers first, first+step, ..., count of them.
func stepsFrom(first, step, count int) (list []int) {
	for k := range count {
		list = append(list, first+k*step)
	}
	return list
}

func BenchmarkCheckStability(b *testing.B) {
	one := []string{"1"}
	for _, c := range []struct {
		name string
		m    *cluster.Model
	}{
		{"servers=1000/classes=50/means=equal", gangOf(1000, stepsFrom(1, 19, 50), one, []string{"1", "1/2", "1/3"})},
		{"servers=10000/classes=2", gangOf(10000, []int{3, 16}, []string{"1", "7/3"}, []string{"3", "1"})},
		{
			"servers=128/classes=3/states=1105",
			gangOf(128, []int{1, 8, 64}, []string{"1", "2", "3"}, []string{"1/2", "1/3", "1/6"}),
		},
		{
			"servers=630/classes=3/states=20224",
			gangOf(630, []int{1, 10, 100}, []string{"1", "2", "3"}, []string{"6/10", "3/10", "1/10"}),
		},
		{
			"servers=1000/classes=3/states=50601",
			gangOf(1000, []int{1, 10, 100}, []string{"1", "2", "3"}, []string{"6/10", "3/10", "1/10"}),
		},
		{
			"servers=128/classes=5/states=222241",
			gangOf(128, []int{1, 2, 4, 8, 16}, []string{"1", "2", "3", "4", "5"}, []string{"1/5"}),
		},
		{
			"servers=400/classes=3/states=11687",
			gangOf(400, []int{1, 7, 100}, []string{"1", "1/10", "30"}, []string{"1", "1/10", "1/1000"}),
		},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r, err := CheckStability(b.Context(), c.m, Settings{})
				if err != nil {
					b.Fatal(err)
				}
				low, high := r.ThroughputLimit.Bounds()
				b.ReportMetric((high-low)/low*1e9, "nanowidth")
				b.ReportMetric(float64(r.States), "states")
			}
		})
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name string
		m    *cluster.Model
	}{
		{"states=153", gangOf(32, []int{1, 4, 16}, []string{"1", "2", "3"}, []string{"2", "1/2", "1/10"})},
		{
			"states=424",
			gangOf(25, []int{1, 2, 5, 10}, []string{"1", "2", "3", "2"}, []string{"1", "1/2", "1/3", "1/10"}),
		},
		{"states=403", gangOf(60, []int{1, 5, 20}, []string{"1", "2", "3"}, []string{"3", "1/2", "1/10"})},
		{"states=1", gangOf(100000, []int{1}, []string{"1"}, []string{"99000"})},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r, err := Solve(b.Context(), c.m, Settings{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.States), "states")
				b.ReportMetric(r.RelativeErrorBound, "bound")
			}
		})
	}
}
