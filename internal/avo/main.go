// Command avo writes AVX2 kernels: what do the fast versions of the inner loops look like? Its
// first argument selects the kernels of internal/cube (cube) or of bf/internal/elimination
// (matrices), and the others are options of the generator. In those packages,
//
//	go generate
//
// writes kernels_amd64.s. A function in Go with the same name defines what each kernel computes,
// and in which order.
package main

import (
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

const bytes = 32 // bytes of a vector of four numbers

func main() {
	kernels := map[string]func(){"cube": cubeKernels, "matrices": multiplyAdd}
	if len(os.Args) < 2 || kernels[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: avo cube|matrices [-out FILE]")
		os.Exit(2)
	}
	ConstraintExpr("amd64")
	kernels[os.Args[1]]()
	os.Args = append(os.Args[:1], os.Args[2:]...) // Generate reads the options
	Generate()
}
