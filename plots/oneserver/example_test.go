package oneserver_test

import (
	"fmt"

	"productform/plots/oneserver"
)

func Example() {
	fmt.Println(oneserver.Source().Title)
	for _, f := range oneserver.Figures() {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// One server per job
	// one-1 Choice of server and cancellation of copies
}
