// Command callcentre finds how many agents a call centre needs so that four of five calls in either
// language are answered within twenty seconds, for each number of agents who speak both languages.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"text/tabwriter"

	"productform/cluster"
	"productform/num"
	"productform/oneserver"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// A call of either language takes four minutes on average, and is answered in time within twenty
// seconds. Times are in minutes.
var (
	meanCall = big.NewRat(4, 1)
	inTime   = big.NewRat(1, 3)
)

// centre returns a call centre: three calls in English and one and a half in French each minute.
func centre(english, french, both int) *cluster.Model {
	m := &cluster.Model{Service: cluster.OneServer, MeanSize: meanCall}
	add := func(name string, agents int) {
		m.Servers = append(m.Servers, cluster.Server{Name: name, Count: agents, Capacity: big.NewRat(1, 1)})
	}
	add("english", english)
	add("french", french)
	of := func(name string, perMinute *big.Rat, group, agents int) {
		c := cluster.Class{Name: name, ArrivalRate: perMinute,
			Servers: []cluster.Choice{{Server: group, Choose: agents}}}
		if both > 0 {
			c.Servers = append(c.Servers, cluster.Choice{Server: 2, Choose: both})
		}
		m.Classes = append(m.Classes, c)
	}
	if both > 0 {
		add("both", both)
	}
	of("English", big.NewRat(3, 1), 0, english)
	of("French", big.NewRat(3, 2), 1, french)
	return m
}

// staffing is a number of agents of each kind, with what callers get.
type staffing struct {
	english, french, both int
	englishInTime         float64 // fraction of the calls
	frenchInTime          float64
	meanWait              float64 // minutes
}

// solve returns what callers get from a number of agents of each kind.
func solve(english, french, both int) (staffing, error) {
	q := oneserver.Question{Times: []*big.Rat{inTime}}
	r, err := oneserver.Answer(context.Background(), centre(english, french, both), q, oneserver.Settings{})
	if err != nil {
		return staffing{}, err
	}
	return staffing{english, french, both, r.Classes[0].Within[0].Waiting.Float,
		r.Classes[1].Within[0].Waiting.Float, r.MeanWaiting.Float}, nil
}

// fewest returns the smallest staffing that reaches the goal with a number of agents for both. With
// fewer agents than the calls in progress there is no stable queue.
func fewest(both int) (staffing, error) {
	const goal = 0.8
	for agents := 19; ; agents++ {
		best := staffing{}
		for french := 1; french < agents-both; french++ {
			s, err := solve(agents-both-french, french, both)
			if errors.Is(err, num.ErrUnstable) {
				continue
			}
			if err != nil {
				return s, err
			}
			if min(s.englishInTime, s.frenchInTime) > min(best.englishInTime, best.frenchInTime) {
				best = s
			}
		}
		if min(best.englishInTime, best.frenchInTime) >= goal {
			return best, nil
		}
	}
}

func run(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "both\tEnglish only\tFrench only\tagents\tEnglish in time\tFrench in time\tmean wait (s)\t")
	for _, both := range []int{0, 1, 2, 4, 8} {
		s, err := fewest(both)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%.1f %%\t%.1f %%\t%.1f\t\n", s.both, s.english, s.french,
			s.both+s.english+s.french, 100*s.englishInTime, 100*s.frenchInTime, 60*s.meanWait)
	}
	return t.Flush()
}
