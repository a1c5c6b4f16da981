package stability

import (
	"slices"
	"testing"

	"productform/internal/oracle"
)

// The results match the exact answers of an independent program.
func TestReference(t *testing.T) {
	for _, c := range oracle.References() {
		t.Run(c.Name, func(t *testing.T) {
			r, err := Cluster(t.Context(), c.Model)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(t.Context(), c.Model, r); err != nil {
				t.Error(err)
			}
			ranked, err := Rank(t.Context(), oracle.Rates(c.Model), oracle.RankTable(c.Model))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []*Result{r, ranked} {
				var names []string
				for _, i := range r.Bottleneck {
					names = append(names, c.Model.Classes[i].Name)
				}
				if r.Stable != c.Expect.Stable || !equal(r.Margin, c.Expect.Margin) ||
					!equal(r.CriticalScale, c.Expect.CriticalScale) || !slices.Equal(names, c.Expect.Bottleneck) {
					t.Errorf("got %v, margin %v, scale %v of %v; want %+v",
						r.Stable, r.Margin, r.CriticalScale, names, c.Expect)
				}
			}
		})
	}
}
