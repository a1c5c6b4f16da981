package book_test

import (
	"crypto/rand"
	"fmt"
	"log"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

func Example() {
	rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}
	s := book.Settings{Leader: "m", Rules: rules, Random: rand.Reader}
	b, err := book.New(s)
	if err != nil {
		log.Fatal(err)
	}
	bills := wire.Job{Name: "bills", Tasks: 2, Work: 10, Run: wire.Run{Kind: "sleep"}}
	p, err := b.Take(0, []book.Input{ // at time 0: a beat and a batch
		{Beat: &wire.Beat{Version: 1, Worker: "w", Process: "p", Speed: 1}},
		{Sequence: 1, In: wire.In{Batch: &wire.Batch{Version: 1, Name: "monday", Jobs: []wire.Job{bills}}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	o := b.OrdersOf(p)[0] // once p is in the log
	fmt.Println(o.Worker, "runs task", o.Order.Task, "of", o.Order.Job)
	after, err := book.New(s) // the book of the next manager
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("folded:", after.Fold(p), after.Cluster() == b.Cluster())
	// Output:
	// w runs task 0 of bills
	// folded: <nil> true
}
