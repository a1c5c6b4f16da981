package main

import (
	"fmt"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
)

// heading describes the simulated system.
func (s *simulation) heading(t *render.Text) {
	policy := s.policy
	if s.interruptions > 0 {
		policy = fmt.Sprintf("%s, %.6g per job on average", policy, s.interruptions)
	}
	command.WriteService(t, s.model)
	verdict := "stable"
	if !s.verdict.Stable {
		verdict = "unstable"
	}
	t.Line("%s; policy %s; %s", verdict, policy, s.means())
	s.writeRuns(t)
}

// means describes the sizes and the method.
func (s *simulation) means() string {
	of := s.sizes
	if from := s.jobs.scaledFrom; from != nil {
		of += fmt.Sprintf(", scaled from the mean %.6g to that of the model", *from)
	}
	return fmt.Sprintf("sizes %s; %s", of, s.result.Method)
}

// writeRuns describes the runs.
func (s *simulation) writeRuns(t *render.Text) {
	r := s.result
	from := fmt.Sprintf("after a warm-up of %.6g", r.WarmUp)
	if r.WarmUp == 0 {
		from = "from the empty start"
	}
	t.Line("%d runs of %.0f jumps, observed for a time of %.6g %s; seed %d; ± at confidence %g",
		r.Runs, r.Jumps/float64(r.Runs), r.Time, from, s.settings.Seed, s.settings.Confidence)
}

// compareHeading describes the simulated systems.
func compareHeading(t *render.Text, list []*simulation) {
	command.WriteService(t, list[0].model)
	for _, s := range list {
		if s.result == nil {
			t.WriteString(s.policy + ": ")
			command.WriteLimits(t, s.compared, s.verdict, num.Float)
		}
	}
	verdict := "stable"
	var unstable []string // over a horizon
	for _, s := range list {
		if s.result != nil && !s.verdict.Stable {
			unstable = append(unstable, s.policy)
		}
	}
	if unstable != nil {
		verdict = "unstable under " + strings.Join(unstable, ", ")
	}
	if k := slices.IndexFunc(list, func(s *simulation) bool { return s.result != nil }); k >= 0 {
		t.Line("%s; %s", verdict, list[k].means())
		list[k].writeRuns(t)
	}
	for _, s := range list {
		if s.joint != nil {
			t.WriteString(s.policy + ": ")
			s.joint.Text(t)
		}
	}
}
