package main

import (
	"context"
	"math"
	"testing"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/docs"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/fairness", run); err != nil {
		t.Error(err)
	}
}

// The delays under proportional fairness at load 0.4 match a Gauss-Seidel solution of the balance
// equations for at most 40 jobs of each kind. The objective x log u + y log v is maximal where the
// processors are shared in proportion to the numbers of jobs, if memory suffices. If not, it is
// maximal where memory is shared in this proportion, if the processors suffice. Otherwise it is
// maximal where both are full. The busier resource has load 0.4, so more than 40 jobs have a
// probability below 1e-12.
func TestAgainstSweeps(t *testing.T) {
	const most = 40
	a := [2][2]float64{{0.04, 0.004}, {0.01, 0.05}} // fractions of processors and memory that a task of each kind takes
	alone := [2]float64{25, 20}
	rate := 0.4 / 1.2
	work := func(x, y float64) [2]float64 { // total number of tasks that run
		n := x + y
		for j := range 2 {
			u, v := x/n/a[0][j], y/n/a[1][j]
			if u*a[0][1-j]+v*a[1][1-j] <= 1 {
				return [2]float64{u, v}
			}
		}
		det := a[0][0]*a[1][1] - a[0][1]*a[1][0]
		return [2]float64{(a[1][1] - a[1][0]) / det, (a[0][0] - a[0][1]) / det}
	}
	var p, done0, done1 [most + 2][most + 2]float64
	for x := range most + 1 {
		for y := range most + 1 {
			if x+y > 0 {
				w := work(float64(x), float64(y))
				done0[x][y], done1[x][y] = w[0]/alone[0], w[1]/alone[1]
			}
		}
	}
	p[0][0] = 1
	for range 4000 {
		for x := range most + 1 {
			for y := range most + 1 {
				in := p[x+1][y]*done0[x+1][y] + p[x][y+1]*done1[x][y+1]
				out := done0[x][y] + done1[x][y]
				if x > 0 {
					in += rate * p[x-1][y]
				}
				if y > 0 {
					in += rate * p[x][y-1]
				}
				if x < most {
					out += rate
				}
				if y < most {
					out += rate
				}
				p[x][y] = in / out
			}
		}
	}
	var mass float64
	var mean [2]float64
	for x := range most + 1 {
		for y := range most + 1 {
			mass += p[x][y]
			mean[0] += float64(x) * p[x][y]
			mean[1] += float64(y) * p[x][y]
		}
	}
	r, err := traffic.Solve(context.Background(), teamsAt("0.4"), fluid.PF, traffic.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range r.Classes {
		if want := mean[k] / mass / rate; math.Abs(*c.MeanDelay-want) > 1e-9*want {
			t.Errorf("delay of class %d = %v, want %v", k, *c.MeanDelay, want)
		}
	}
}
