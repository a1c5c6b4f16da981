package draw_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"productform/dispatch"
	"productform/plots/draw"
)

func Example_timeline() {
	s := dispatch.Scenario{
		Speeds: []float64{1, 1, 2},
		Jobs:   []dispatch.Job{{Priority: 2, Tasks: 8, Work: 2}, {Priority: 1, Submit: 1, Tasks: 2, Work: 2}},
		Policy: dispatch.Policy{Rule: dispatch.Priority},
	}
	r, err := dispatch.Run(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	t, err := draw.New(context.Background(), s, r, nil, func(*dispatch.Decision) {})
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	t.Write(&b)
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "worker ") {
			fmt.Print(line)
		}
	}
	// Output:
	// worker 1             1  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBBBBB
	// worker 2             1  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBBBBB
	// worker 3             2  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA....................
}
