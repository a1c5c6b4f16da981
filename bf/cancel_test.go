package bf

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"testing"
	"time"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// questions returns the valid questions for every engine on every lattice.
func questions() map[string]func(ctx context.Context) error {
	list := make(map[string]func(ctx context.Context) error)
	smallRacks := racksModel().Scale(big.NewRat(1, 8))
	for s := range smallRacks.Servers {
		smallRacks.Servers[s].Count = 4
	}
	smaller := map[string][]*cluster.Model{ // for means, and for derivatives
		"sparse": {sparseModel(7), sparseModel(6)},
		"line":   {lineModel(9, 3), lineModel(8, 3)},
	}
	for name, m := range map[string]*cluster.Model{"sparse": sparseModel(9), "line": lineModel(12, 3),
		"racks": smallRacks, "long ways": halfModel(1000)} {
		for _, lattice := range []Lattice{ClassLattice, ServerLattice, ConnectedLattice, SymmetricLattice} {
			if symmetric := name == "racks" || name == "long ways"; symmetric != (lattice == SymmetricLattice) {
				continue
			}
			for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
				if name == "long ways" && engine == num.Exact {
					continue // hours
				}
				m, s := m, Settings{Engine: engine, Lattice: lattice}
				if small := smaller[name]; small != nil && engine != num.Float {
					m = small[0] // long numbers take a hundred times as long
				}
				list[fmt.Sprint(name, " ", lattice, " ", engine)] = func(ctx context.Context) error {
					_, err := Answer(ctx, m, Question{MaxJobs: 10}, s)
					return err
				}
				if name == "sparse" || name == "line" {
					m := m
					if engine != num.Float {
						m = smaller[name][1]
					}
					list[fmt.Sprint("gradient ", name, " ", lattice, " ", engine)] = func(ctx context.Context) error {
						_, err := gradientOf(ctx, m, s)
						return err
					}
					if engine == num.Float {
						key := fmt.Sprint("class gradients ", name, " ", lattice, " ", engine)
						m := map[string]*cluster.Model{"sparse": sparseModel(6), "line": lineModel(10, 3)}[name]
						list[key] = func(ctx context.Context) error {
							_, err := gradientsOf(ctx, m, s)
							return err
						}
					}
				}
			}
		}
	}
	tree := treeModel(12, 2, big.NewRat(4, 5))
	list["tree elimination float"] = func(ctx context.Context) error {
		_, err := Solve(ctx, tree, Settings{Lattice: EliminationLattice})
		return err
	}
	list["gradient tree elimination float"] = func(ctx context.Context) error {
		_, err := gradientOf(ctx, tree, Settings{Lattice: EliminationLattice, RelTol: 1e-6})
		return err
	}
	return list
}

// Whenever a context is cancelled, the solver returns the error of the context. It checks the
// context only a few more times: once per nested loop that it leaves, on each core.
func TestSolversCancelled(t *testing.T) {
	const most = 64
	for name, ask := range questions() {
		if err := oracle.CheckEnds(ask, 1<<13, most); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Models of seconds to hours return promptly if the context is cancelled early. Otherwise the test
// would not finish.
func TestLongSolvesCancelled(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	half := []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 3), big.NewRat(1, 4)}
	for name, ask := range map[string]func(ctx context.Context) error{
		"classes, float": func(ctx context.Context) error {
			_, err := Solve(ctx, sparseModel(25), Settings{Engine: num.Float, Lattice: ClassLattice})
			return err
		},
		"classes, enclose": func(ctx context.Context) error {
			_, err := Solve(ctx, sparseModel(19), Settings{Engine: num.Enclose, Lattice: ClassLattice, RelTol: 1e-250})
			return err
		},
		"classes, exact": func(ctx context.Context) error {
			_, err := Solve(ctx, sparseModel(18), Settings{Engine: num.Exact, Lattice: ClassLattice})
			return err
		},
		"triples": func(ctx context.Context) error {
			_, err := Solve(ctx, triplesModel(23), Settings{Engine: num.Float, Lattice: ServerLattice})
			return err
		},
		"line": func(ctx context.Context) error {
			_, err := Answer(ctx, lineModel(2000, 10), Question{MaxJobs: 50}, Settings{})
			return err
		},
		"racks": func(ctx context.Context) error {
			_, err := Answer(ctx, racksModel(), Question{MaxJobs: 1000}, Settings{Engine: num.Enclose, RelTol: 1e-100})
			return err
		},
		"ways": func(ctx context.Context) error {
			_, err := Solve(ctx, halfModel(100_000), Settings{Engine: num.Enclose, RelTol: 1e-250})
			return err
		},
		"gradient": func(ctx context.Context) error {
			_, err := gradientOf(ctx, sparseModel(19),
				Settings{Engine: num.Enclose, Lattice: ClassLattice, RelTol: 1e-250})
			return err
		},
		"class gradients": func(ctx context.Context) error {
			_, err := gradientsOf(ctx, sparseModel(19), Settings{Engine: num.Float, Lattice: ClassLattice})
			return err
		},
		"random assignment": func(ctx context.Context) error {
			_, err := RandomAssignment(ctx, 1_000_000, big.NewRat(1, 1),
				[]RandomClass{{ArrivalRate: big.NewRat(1, 3), Choose: 2}})
			return err
		},
		"sweep": func(ctx context.Context) error {
			_, err := sweepLoads(ctx, sparseModel(25), half, Question{}, Settings{})
			return err
		},
	} {
		for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error %v, want that of the context", name, err)
			}
			cancel()
		}
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines are still running", now-goroutines)
	}
}
