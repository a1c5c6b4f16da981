package cluster_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

// draw draws a model with rates and capacities that are often 0, and groups that are often chosen
// completely.
func draw(t *rapid.T, servers, classes, count int) *cluster.Model {
	return oracle.DrawModel(t, oracle.Options{
		Servers:        servers,
		Classes:        classes,
		Count:          count,
		ZeroRates:      true,
		ZeroCapacities: true,
		OwnSizes:       true,
	})
}

// shape formats a model such that two models are equal if and only if the texts are.
func shape(m *cluster.Model) string {
	var b strings.Builder
	for _, s := range m.Servers {
		fmt.Fprintf(&b, "%q x%d %s\n", s.Name, s.Size(), s.Capacity.RatString())
	}
	for _, c := range m.Classes {
		fmt.Fprintf(&b, "%q %s %v\n", c.Name, c.ArrivalRate.RatString(), c.Servers)
		if c.MeanSize != nil {
			fmt.Fprintf(&b, "of %s\n", c.MeanSize.RatString())
		}
	}
	if m.MeanSize != nil {
		fmt.Fprintf(&b, "%s", m.MeanSize.RatString())
	}
	return b.String()
}
