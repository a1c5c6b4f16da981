package bf

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"productform/cluster"
	"productform/internal/cube"
	"productform/internal/recursion"
	"productform/num"
)

var workerNumbers = []int{1, 2, 3, 16}

// mixedModel has classes on 1 to 4 of some servers, at load 1/2.
func mixedModel(rng *rand.Rand, classes, servers int) *cluster.Model {
	m := &cluster.Model{}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(900+rng.Int64N(1000), 1000)})
	}
	for i := range classes {
		chosen := rng.Perm(servers)[:1+rng.IntN(4)]
		// Neither one class nor all of them bring more than half of the work that their servers can
		// do.
		most := int64(450_000 * len(chosen) / classes)
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i),
			ArrivalRate: big.NewRat(1+rng.Int64N(most), 1_000_000),
			Servers:     cluster.On(chosen...)})
	}
	return m
}

// The kernels of the float engine give the same bits for any number of workers, on tables large
// enough for several workers.
func TestKernelsIndependentOfWorkers(t *testing.T) {
	for more := range 3 {
		n := cube.LeafBits + more
		draw := func(classes, servers int) *recursion.Problem {
			return oneProblem(mixedModel(rand.New(rand.NewPCG(uint64(more), 9)), classes, servers))
		}
		byClasses, byServers := draw(n, n+4), draw(3*n, n)
		kernels := map[string]func(workers int) (measures, error){
			"classes": func(workers int) (measures, error) {
				return floatClasses(t.Context(), byClasses, nil, workers)
			},
			"servers": func(workers int) (measures, error) {
				return floatServers(t.Context(), byServers, nil, workers)
			},
		}
		for name, kernel := range kernels {
			var want measures
			for k, workers := range workerNumbers {
				got, err := kernel(workers)
				if err != nil {
					t.Fatalf("lattice of %d %s: %v", n, name, err)
				}
				if k == 0 {
					want = got
				} else if !reflect.DeepEqual(got, want) {
					t.Fatalf("lattice of %d %s: %d workers and one give different digits", n, name, workers)
				}
			}
		}
	}
}

// oneProblem returns a whole model, without reduction, as one problem.
func oneProblem(m *cluster.Model) *recursion.Problem {
	return newProblem(&cluster.Component{Model: *m}, false)
}

// Answers and memory errors do not depend on the number of cores.
func TestSolversIndependentOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var factors []*big.Rat
	for k := range 6 {
		factors = append(factors, big.NewRat(int64(k), 8+int64(k%3)))
	}
	type question struct {
		name string
		ask  func() (any, error)
	}
	var questions []question
	for _, n := range []int{cube.LeafBits, cube.LeafBits + 1} {
		for _, m := range []*cluster.Model{mixedModel(rand.New(rand.NewPCG(1, 1)), n, n+3),
			mixedModel(rand.New(rand.NewPCG(1, 2)), 3*n, n)} {
			questions = append(questions, question{fmt.Sprint("solve ", n),
				func() (any, error) { return Solve(t.Context(), m, Settings{}) }})
		}
	}
	for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
		for _, kib := range []int64{64, 1024, 16384} {
			for name, m := range map[string]*cluster.Model{"mixed": mixedModel(rand.New(rand.NewPCG(2, 1)), 11, 9),
				"line": lineModel(14, 3)} {
				s := Settings{Engine: engine, MaxBytes: kib << 10}
				questions = append(questions, question{fmt.Sprint("sweep ", name, " ", engine, " in KiB ", kib),
					func() (any, error) { return sweepLoads(t.Context(), m, factors, Question{}, s) }})
			}
		}
	}
	refused := 0
	for _, q := range questions {
		var want any
		var wantErr string
		for k, workers := range workerNumbers {
			runtime.GOMAXPROCS(workers)
			got, err := q.ask()
			text := fmt.Sprint(err)
			if k == 0 {
				want, wantErr = got, text
				if err != nil {
					refused++
				}
			} else if text != wantErr || err == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: different digits on %d cores, or error %v instead of %v", q.name, workers, text, wantErr)
			}
		}
	}
	if refused == 0 || refused == len(questions) {
		t.Errorf("%d of %d questions are rejected; the test needs both kinds", refused, len(questions))
	}
}
