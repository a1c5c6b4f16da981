package main

import (
	"context"
	"fmt"
	"log"

	"productform/dispatch"
)

func Example_replay() {
	var s Scenario
	s.Policy = dispatch.Policy{Rule: dispatch.EDF}
	s.Speeds = []float64{1, 2}
	s.Jobs = []dispatch.Job{{Tasks: 4, Work: 2}, {Submit: 1, Deadline: 4, Tasks: 1, Work: 2}}
	// a hundred times faster than real time
	lived, err := RunScenario(context.Background(), s, ScenarioSettings{Pace: 100})
	if err != nil {
		log.Fatal(err)
	}
	simulated, err := Simulate(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same events at the same times:", Compare(lived, simulated) == nil)
	fmt.Println("done after", lived.Result.Makespan, "seconds")
	// Output:
	// the same events at the same times: true
	// done after 4 seconds
}
