package traces_test

import (
	"fmt"
	"log"

	"productform/dispatch/swf"
	"productform/traces"
)

func Example() {
	fmt.Println(traces.Names())
	text, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		log.Fatal(err)
	}
	defer text.Close()
	jobs := swf.NewReader(text, "SDSC-Par-1996").All()
	for job, err := range jobs {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("the first job ran for %g seconds on %d processors\n", job.RunTime, job.Processors)
		break
	}
	// Output:
	// [SDSC-Par-1996]
	// the first job ran for 19025 seconds on 64 processors
}
