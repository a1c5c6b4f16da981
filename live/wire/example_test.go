package wire_test

import (
	"fmt"
	"log"

	"productform/live/wire"
)

func Example() {
	b := &wire.Batch{
		Version: 1, Name: "monday",
		Jobs: []wire.Job{{Name: "squares", Tasks: 5, Work: 0.01, Run: wire.Run{Kind: "square"}}},
	}
	data, err := wire.Encode(b)
	if err != nil {
		log.Fatal(err)
	}
	back, err := wire.Decode[wire.Batch](data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(wire.Submit(b.Name), "carries a job of", back.Jobs[0].Tasks, "tasks")
	_, err = wire.Decode[wire.Batch](
		[]byte(`{"v": 1, "name": "monday", "jobs": [{"name": "squares", "tasks": 0, "run": {"kind": "square"}}]}`),
	)
	fmt.Println(err)
	// Output:
	// pfq.in.submit.monday carries a job of 5 tasks
	// jobs[0].tasks = 0: want an integer in [1, 10000000]
}
