package estimate

import (
	"context"
	"fmt"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
)

// farOutside is the distance of an estimate from its proved bounds, in half-widths, above which a warning names
// it. About one correct estimate in a million is that far away.
const farOutside = 2.5

// easyRows is the largest number of classes or servers in a component that pfq solve takes within a second.
const easyRows = 20

// warnings returns the reasons not to trust a result, and what to do.
func warnings(ctx context.Context, m *cluster.Model, r *gibbs.Result, bounds []*windows.Bounds) ([]string, error) {
	list := append([]string{}, r.Warnings...)
	if w := boundsWarning(m, r, bounds); w != "" {
		list = append(list, w)
	}
	if len(list) == 0 {
		return list, nil
	}
	components, err := m.EqualSizes().Reduce(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		servers := 0
		for _, s := range c.Model.Servers {
			servers += s.Size()
		}
		if min(len(c.Model.Classes), servers) > easyRows {
			return list, nil
		}
	}
	return append(list, "this model is small enough for pfq solve, which has exact values"), nil
}

// boundsWarning names the class whose estimate is farthest outside its proved bounds, if any is far outside.
func boundsWarning(m *cluster.Model, r *gibbs.Result, bounds []*windows.Bounds) string {
	worst, most, count := 0, 0.0, 0
	for i, b := range bounds {
		e := r.Classes[i].MeanDelay
		if b == nil || e == nil {
			continue
		}
		off := b.Low - e.Mean
		if b.High != nil {
			off = max(off, e.Mean-*b.High)
		}
		if off <= farOutside*e.HalfWidth {
			continue
		}
		if count++; off/e.HalfWidth > most {
			worst, most = i, off/e.HalfWidth
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d estimates contradict their proved bounds, the mean delay of class %s by %.3g half-widths",
		count, m.Classes[worst].Name, most)
}
