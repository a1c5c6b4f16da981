package main

import (
	"fmt"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
)

// heading describes the simulated system.
func (s *simulation) heading(t *render.Text) {
	r := s.result
	verdict, policy, of := "stable", s.policy, s.simulateQuestion.sizes
	if !s.stable {
		verdict = "unstable"
	}
	if s.interruptions > 0 {
		policy = fmt.Sprintf("%s, %.6g per job on average", policy, s.interruptions)
	}
	if from := s.jobs.scaledFrom; from != nil {
		of += fmt.Sprintf(", scaled from the mean %.6g to that of the model", *from)
	}
	command.WriteService(t, s.model)
	t.Line("%s; policy %s; sizes %s; %s", verdict, policy, of, r.Method)
	from := fmt.Sprintf("after a warm-up of %.6g", r.WarmUp)
	if r.WarmUp == 0 {
		from = "from the empty start"
	}
	t.Line("%d runs of %.0f jumps, observed for a time of %.6g %s; seed %d; ± at confidence %g",
		r.Runs, r.Jumps/float64(r.Runs), r.Time, from, s.settings.Seed, s.settings.Confidence)
}
