package draw_test

import (
	"context"
	"fmt"
	"strings"

	"productform/plots"
	"productform/plots/draw"
)

// The data of a figure as CSV; draw.PNG, draw.SVG or draw.PDF give its picture, to be written with WriteFile.
func ExampleRender() {
	f, err := plots.Catalogue()[0].Build(context.Background(), plots.Draft)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := draw.Render(f, draw.CSV)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(strings.Split(string(b), "\n")[:2], "\n"))
	// Output:
	// load ρ (work arriving per unit of capacity),both classes: mean service rate γ (work per unit of time),both classes: mean delay δ (units of time)
	// 0.02,1.9600499974491097,0.5101910672184085
}
