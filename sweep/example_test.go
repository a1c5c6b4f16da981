package sweep_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"productform/sweep"
)

func Example() {
	var tasks []sweep.Task[int]
	for n := range 10 {
		key, err := sweep.Key("squares, version 1", n)
		if err != nil {
			log.Fatal(err)
		}
		square := func(context.Context) (int, error) { return n * n, nil }
		tasks = append(tasks, sweep.Task[int]{Key: key, Run: square})
	}
	// with a Folder, none is computed twice
	squares, err := sweep.Run(context.Background(), tasks, sweep.Settings{Workers: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25 36 49 64 81]
}

// Ten replications of a simulation at each of three loads. A second run simulates none of them
// again.
func ExampleRun() {
	folder, err := os.MkdirTemp("", "sweep")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)

	type result struct{ MeanWait float64 }
	var tasks []sweep.Task[result]
	for _, load := range []float64{0.2, 0.5, 0.8} {
		for replication := range uint64(10) {
			key, err := sweep.Key("waits, version 1", load, replication)
			if err != nil {
				fmt.Println(err)
				return
			}
			tasks = append(tasks, sweep.Task[result]{
				Key:  key,
				Cost: 1 / (1 - load),
				Run: func(context.Context) (result, error) {
					r := rand.New(rand.NewPCG(1, replication))
					wait, sum, jobs := 0.0, 0.0, 20000
					for range jobs { // Lindley's recursion
						wait = max(0, wait+r.ExpFloat64()-r.ExpFloat64()/load)
						sum += wait
					}
					return result{sum / float64(jobs)}, nil
				},
			})
		}
	}
	for range 2 {
		var last sweep.Progress
		results, err := sweep.Run(context.Background(), tasks, sweep.Settings{
			Folder:   folder,
			Progress: func(p sweep.Progress) { last = p },
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := 0; i < len(results); i += 10 {
			mean := 0.0
			for _, r := range results[i : i+10] {
				mean += r.MeanWait / 10
			}
			fmt.Printf("%.2f ", mean)
		}
		fmt.Printf("(%d of %d reused)\n", last.Reused, last.Total)
	}
	// Output:
	// 0.25 0.98 3.92 (0 of 30 reused)
	// 0.25 0.98 3.92 (30 of 30 reused)
}
