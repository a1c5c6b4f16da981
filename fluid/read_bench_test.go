package fluid

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"productform/num"
)

// BenchmarkReadAndAllocate reads pools with different numbers of jobs that demand two resources,
// and allocates them.
func BenchmarkReadAndAllocate(b *testing.B) {
	const jobs = 100_000
	yaml, json := &strings.Builder{}, &strings.Builder{}
	yaml.WriteString("resources:\n  - {name: cpu, capacity: 9000}\n  - {name: ram, capacity: 18000}\njobs:\n")
	json.WriteString(
		`{"resources": [{"name": "cpu", "capacity": 9000}, {"name": "ram", "capacity": 18000}], "jobs": [` + "\n",
	)
	for i := range jobs {
		cpu, ram := 1+i%16, 0.5*float64(1+i%31)
		fmt.Fprintf(yaml, "  - {name: j%d, demand: {cpu: %d, ram: %v}}\n", i, cpu, ram)
		fmt.Fprintf(json, `{"name": "j%d", "demand": {"cpu": %d, "ram": %v}},`+"\n", i, cpu, ram)
	}
	for _, format := range []struct{ name, text string }{
		{"yaml", yaml.String()}, {"json", strings.TrimSuffix(json.String(), ",\n") + "]}"},
	} {
		for _, policy := range []Policy{PF, DRF} {
			b.Run(fmt.Sprintf("jobs=%d/format=%s/policy=%s", jobs, format.name, policy), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p, err := ReadPool(strings.NewReader(format.text))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := Allocate(context.Background(), p, policy, Settings{Engine: num.Float}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
