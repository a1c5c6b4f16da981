package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"productform/plots"
	"productform/plots/draw"
)

// A worker computes and draws figures, several at a time.
type worker struct {
	precision plots.Precision
	jobs      int
	progress  *progress
}

// compute returns the figures in the order of the entries.
func (w worker) compute(ctx context.Context, entries []plots.Entry) ([]*plots.Figure, error) {
	figures := make([]*plots.Figure, len(entries))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(w.jobs)
	for i, e := range entries {
		g.Go(func() (err error) {
			figures[i], err = e.Build(ctx, w.precision)
			w.progress.step(e.ID)
			return err
		})
	}
	return figures, g.Wait()
}

// write writes every figure in every format, then the page and the checks, so that these never tell of files that
// are not there. It returns the paths in that order.
func (w worker) write(ctx context.Context, folder string, figures []*plots.Figure, formats []draw.Format) ([]string, error) {
	var paths []string
	g, drawing := errgroup.WithContext(ctx)
	g.SetLimit(w.jobs)
	for _, f := range figures {
		for _, format := range formats {
			if format == draw.HTML {
				continue
			}
			path := filepath.Join(folder, draw.FileName(f, format))
			paths = append(paths, path)
			g.Go(func() error {
				if err := drawing.Err(); err != nil {
					return err
				}
				b, err := draw.Render(f, format)
				if err != nil {
					return fmt.Errorf("%s: %w", f.ID, err)
				}
				w.progress.step(filepath.Base(path))
				return draw.WriteFile(path, b)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if slices.Contains(formats, draw.HTML) {
		b, err := draw.Page(figures, formats)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(folder, draw.FileName(nil, draw.HTML))
		if err := draw.WriteFile(path, b); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	b, err := draw.ChecksJSON(figures)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "checks.json")
	return append(paths, path), draw.WriteFile(path, b)
}

// printChecks prints the table of checks and returns an error if one fails.
func printChecks(w io.Writer, figures []*plots.Figure) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tquantity\texact\tsolver\trelative error\tbound\tsimulated\tz\tagrees")
	failed, total := 0, 0
	for _, f := range figures {
		for _, c := range f.Checks {
			agrees := "yes"
			if total++; !c.OK() {
				agrees = "no"
				failed++
			}
			simulated := optional(c.Simulated, "%.10g")
			if c.HalfWidth != nil {
				simulated += fmt.Sprintf(" ± %.2g", *c.HalfWidth)
			}
			fmt.Fprintf(t, "%s\t%s\t%.12g\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Figure, c.Quantity, c.Exact,
				optional(c.Solver, "%.12g"), optional(c.RelativeError(), "%.1e"), optional(c.Tolerance, "%.1e"), simulated, optional(c.Z, "%.2f"), agrees)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%w: %d of %d", errCheck, failed, total)
	}
	return nil
}

func optional(v *float64, format string) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}
