package main

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"productform/bf"
	"productform/internal/docs"
	"productform/num"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/randomassignment", run); err != nil {
		t.Error(err)
	}
}

// The printed delays match the closed form in fractions.
func TestDelaysMatchClosedForm(t *testing.T) {
	var b bytes.Buffer
	if err := run(&b); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.String(), "\n")[1 : 1+len(loads)] {
		cells := strings.Fields(line)
		rate := new(big.Rat).Mul(num.Rat(loads[i]), big.NewRat(100, 1))
		for j, d := range replicas {
			c, err := bf.RandomAssignment(
				t.Context(), 100, big.NewRat(1, 1), []bf.RandomClass{{ArrivalRate: rate, Choose: d}},
			)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := c.MeanDelay.Float64()
			if cells[1+j] != fmt.Sprintf("%.4f", want) {
				t.Errorf("load %s, %d replicas: %s, want %.4f", loads[i], d, cells[1+j], want)
			}
		}
	}
}
