package main

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/internal/cli"
	"productform/stability"
)

func newStability() *cobra.Command {
	var format, file string
	var exact bool
	cmd := &cobra.Command{
		Use:   "stability MODEL",
		Short: "Say whether a cluster is stable, by what margin, and which classes decide",
		Long: `stability says whether the cluster in the file MODEL (JSON or YAML, - for the standard input) is stable:
whether every set A of classes brings less work than its servers can do, λ(A)σ < μ(A). The verdict is exact,
and the boundary counts as unstable.

  margin          the least of μ(A) - λ(A)σ over the non-empty sets A of classes, work per unit of time
  critical_scale  the least of μ(A)/(λ(A)σ): multiplied by any smaller factor, the arrival rates are stable;
                  it does not exist if no jobs arrive
  bottleneck      the smallest set A that attains the critical scale

Stable or not, the exit status is 0. CSV is one line, with the classes of the bottleneck joined by semicolons.`,
		Example: `  $ pfq example three-servers | pfq stability -
  stable: still so with the arrival rates multiplied by anything below 1.25
  margin      0.6
  bottleneck  class-1, class-2: work 2.4 on capacity 3

  $ pfq example three-servers | pfq stability - --exact --format csv
  verdict,stable,margin,margin_exact,critical_scale,critical_scale_exact,bottleneck
  stable,true,0.6,3/5,1.25,5/4,class-1;class-2`,
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInput("--output", file, args[0], cmd.InOrStdin()); err != nil {
				return err
			}
			m, err := readModel(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			r, err := stability.Cluster(m)
			if err != nil {
				return fmt.Errorf("%s: %w", source(args[0]), err)
			}
			answer, err := formatStability(m, r, format, exact)
			if err != nil {
				return err
			}
			return write(answer, file, cmd.OutOrStdout())
		},
	}
	addFormat(cmd, &format)
	addOutput(cmd, &file)
	cli.AddSwitch(cmd, &exact, "exact", "also give the exact fractions")
	return cmd
}

func formatStability(m *cluster.Model, r *stability.Result, format string, exact bool) ([]byte, error) {
	switch format {
	case "json":
		return writeJSON(stabilityRecord(m, r, exact))
	case "csv":
		return writeCSV([]string{"verdict", "stable", "margin", "critical_scale", "bottleneck"}, []record{stabilityRecord(m, r, exact)})
	}
	return stabilityText(m, r, exact), nil
}

func stabilityRecord(m *cluster.Model, r *stability.Result, exact bool) record {
	out := record{{"verdict", "unstable"}, {"stable", r.Stable}, {"margin", ratNumberBeside(r.Margin, new(big.Rat))}}
	if r.Stable {
		out[0].value = "stable"
	}
	if exact {
		out = append(out, field{"margin_exact", ratText(r.Margin)})
	}
	out = append(out, field{"critical_scale", ratNumberBeside(r.CriticalScale, big.NewRat(1, 1))})
	if exact {
		out = append(out, field{"critical_scale_exact", ratText(r.CriticalScale)})
	}
	return append(out, field{"bottleneck", classNames(m, r.Bottleneck)})
}

func classNames(m *cluster.Model, classes []int) []string {
	names := []string{}
	for _, i := range classes {
		names = append(names, m.Classes[i].Name)
	}
	return names
}

func stabilityText(m *cluster.Model, r *stability.Result, exact bool) []byte {
	var b bytes.Buffer
	number := func(v, boundary *big.Rat) string {
		if exact {
			return v.RatString()
		}
		return sixBeside(v, boundary)
	}
	if r.CriticalScale == nil {
		fmt.Fprintln(&b, "stable: no jobs arrive")
		fmt.Fprintln(&b, "margin     ", number(r.Margin, nil))
		return b.Bytes()
	}
	verdict := "unstable: would be stable"
	if r.Stable {
		verdict = "stable: still so"
	}
	fmt.Fprintf(&b, "%s with the arrival rates multiplied by anything below %s\n", verdict, number(r.CriticalScale, big.NewRat(1, 1)))
	fmt.Fprintln(&b, "margin     ", number(r.Margin, nil))
	fmt.Fprintf(&b, "bottleneck  %s: work %s on capacity %s\n", firstNames(classNames(m, r.Bottleneck)), number(r.Arrival, r.Capacity), number(r.Capacity, nil))
	return b.Bytes()
}

// firstNames returns the first names of a list, and how many there are if they are many.
func firstNames(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, ... (%d classes)", strings.Join(names[:most], ", "), len(names))
}
