package dispatch

import (
	"bufio"
	"strconv"
	"strings"
	"testing"

	"productform/traces"
)

func year(t testing.TB) []Job {
	f, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(f)
	var jobs []Job
	for sc.Scan() {
		fs := strings.Fields(sc.Text())
		if fs[0][0] == ';' {
			continue
		}
		g := func(i int) float64 { v, _ := strconv.ParseFloat(fs[i-1], 64); return v }
		j := Job{ID: int64(g(1)), Submit: g(2), Work: g(4), Tasks: int(g(5)), Priority: float64(int(g(12))%100 + 1)}
		j.Deadline = j.Submit + max(1, 2*j.Work)
		if j.Tasks >= 4 {
			j.Deadline = j.Submit + max(1, 2*j.Work*float64(j.Tasks)/4)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func BenchmarkYear(b *testing.B) {
	jobs := year(b)
	speeds := make([]float64, 400)
	het := make([]float64, 400)
	for i := range speeds {
		speeds[i] = 1
		het[i] = .5 + float64(i*7919%400)/400
	}
	for _, p := range []Policy{{Rule: Priority}, {Rule: Proportion}, {Rule: Workload}, {Rule: Deadline}, {Rule: Deadline, Spare: SpareByDeadline}, {Rule: EDF}} {
		for name, sp := range map[string][]float64{"hom": speeds, "het": het} {
			b.Run(string(p.Rule)+string(p.Spare)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					r, err := Run(b.Context(), Scenario{Jobs: jobs, Speeds: sp, Policy: p})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(r.PriorityViolationRate, "pvr")
					b.ReportMetric(r.RunningViolationRate, "rvr")
					b.ReportMetric(r.DeadlineMissPenalty, "pen")
					b.ReportMetric(r.Utilization, "util")
					b.ReportMetric(float64(r.Decisions), "dec")
				}
			})
		}
	}
}
