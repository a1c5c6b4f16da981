package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"productform/internal/cli"
	"productform/plots"
	"productform/plots/draw"
)

// A writer draws figures, several files at a time.
type writer struct {
	parallel int
	progress *cli.Progress
	edition  draw.Edition // edition of the page
}

// write writes every figure in every format, and then the pages and the checks, which therefore
// never mention missing files. It returns the paths in that order.
func (w writer) write(ctx context.Context, folder string, figures []*plots.Figure, formats []draw.Format) ([]string,
	error) {
	var paths []string
	var drawn atomic.Int64
	files := len(figures) * len(formats)
	g, drawing := errgroup.WithContext(ctx)
	g.SetLimit(w.parallel)
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
				w.progress.Show(int(drawn.Add(1)), files, "files drawn")
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
		pages, err := draw.Pages(figures, formats, w.edition)
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			path := filepath.Join(folder, page.Name)
			if err := draw.WriteFile(path, page.Text); err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
	}
	b, err := draw.ChecksJSON(figures)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "checks.json")
	return append(paths, path), draw.WriteFile(path, b)
}

// printChecks prints the table of checks, their joint verdict, and the claims. It returns an error
// if one of them fails.
func printChecks(w io.Writer, figures []*plots.Figure) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tquantity\texact\tsolver\trelative error\tbound\tsimulated\tz\tagrees")
	var checks []plots.Check
	var claims []plots.Claim
	failed, refuted := 0, 0
	for _, f := range figures {
		checks = append(checks, f.Checks...)
		claims = append(claims, f.Claims...)
	}
	for _, c := range checks {
		agrees := "yes"
		if !c.OK() {
			agrees = "no"
			failed++
		}
		simulated := optional(c.Simulated, "%.6g")
		if c.HalfWidth != nil {
			simulated += fmt.Sprintf(" ± %.2g", *c.HalfWidth)
		}
		fmt.Fprintf(t, "%s\t%s\t%.12g\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Figure, c.Quantity, c.Exact,
			optional(c.Solver, "%.12g"), optional(c.RelativeError(), "%.1e"), optional(c.Tolerance, "%.1e"), simulated,
			optional(c.Z, "%.2f"), agrees)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	summary := plots.Summarize(checks)
	if summary.Rows > 0 {
		summarize(&text, summary)
	}
	for _, c := range claims {
		fmt.Fprintf(&text, "\n%s: %s\n  asked: %s\n  numbers: %s\n  verdict: %s\n", c.Place, c.Sentence, c.Criterion,
			c.Numbers, c.Verdict)
		if c.Verdict == plots.Refuted && !c.Finding {
			refuted++
		}
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return err
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%w: %d of %d", errCheck, failed, len(checks))
	case !summary.OK():
		return fmt.Errorf("%w: the simulated numbers together", errCheck)
	case refuted > 0:
		return fmt.Errorf("%w: %d of %d claims", errCheck, refuted, len(claims))
	}
	return nil
}

// summarize writes the joint verdict on the simulated numbers.
func summarize(w io.Writer, s plots.Summary) {
	part := func(n int) float64 { return 100 * float64(n) / float64(s.Rows) }
	fmt.Fprintf(w, "\nsimulated numbers: %d from %d simulations\n", s.Rows, s.Simulations)
	fmt.Fprintf(w, "  |z| > 1.96: %d (%.2g %%, expected 5 %%); |z| > 3: %d (%.2g %%, expected 0.27 %%); largest %.2f\n",
		s.Beyond196, part(s.Beyond196), s.Beyond3, part(s.Beyond3), s.Largest)
	if s.PValue != nil {
		fmt.Fprintf(w, "  z of the first number of each simulation, in 10 cells of equal probability: chi-square "+
			"%.3g, p = %.3g\n", *s.ChiSquare, *s.PValue)
	}
	asked, verdict := fmt.Sprintf("no |z| > %d", plots.MaxZ), "yes"
	if s.PValue != nil {
		asked += fmt.Sprintf(" and p >= %g", plots.LeastProb)
	}
	if !s.OK() {
		verdict = "no"
	}
	fmt.Fprintf(w, "  agrees (%s): %s\n", asked, verdict)
}

func optional(v *float64, format string) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}
