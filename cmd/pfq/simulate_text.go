package main

import (
	"fmt"
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/dispatch/rigid"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/num"
)

// heading describes the simulated system.
func (s *simulation) heading(t *render.Text) {
	policy := s.policy
	if s.interruptions > 0 {
		policy = fmt.Sprintf("%s, %.6g per job on average", policy, s.interruptions)
	}
	writeService(t, s.model)
	t.Line("%s; policy %s; %s", s.stability(), policy, s.means())
	s.writeRuns(t)
}

// writeService writes a line that explains the service of a cluster under any policy.
func writeService(t *render.Text, m *cluster.Model) {
	if m.Service == cluster.Gang {
		t.Line("each job holds all the servers that it needs from its start to its end")
		return
	}
	command.WriteService(t, m)
}

// means describes the sizes and the method.
func (s *simulation) means() string {
	of := s.sizes
	if from := s.jobs.scaledFrom; from != nil {
		of += fmt.Sprintf(", scaled from the mean %.6g to that of the model", *from)
	}
	if s.patience != "" {
		of += ", patience " + s.patience
	}
	if s.requests != (rigid.Requests{}) {
		of += ", requested times " + cli.FactorsText(s.requests)
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
	writeService(t, list[0].model)
	for _, s := range list {
		if s.result == nil {
			t.WriteString(s.policy + ": ")
			if s.gang != nil {
				s.gang.write(t)
				continue
			}
			command.WriteLimits(t, s.compared, s.verdict, num.Float)
		}
	}
	var verdicts []string
	for _, word := range []string{"unstable", "stability not known", "stable"} {
		var policies []string
		for _, s := range list {
			if s.result != nil && s.stability() == word {
				policies = append(policies, s.policy)
			}
		}
		switch {
		case policies == nil || word == "stable" && verdicts != nil && list[0].gang == nil:
		case word == "stable" && verdicts == nil:
			verdicts = append(verdicts, word)
		default:
			verdicts = append(verdicts, word+" under "+strings.Join(policies, ", "))
		}
	}
	if k := slices.IndexFunc(list, func(s *simulation) bool { return s.result != nil }); k >= 0 {
		t.Line("%s; %s", strings.Join(verdicts, "; "), list[k].means())
		list[k].writeRuns(t)
	}
	if list[0].gang != nil {
		t.Line("%s", gangNote)
	}
	for _, s := range list {
		if s.joint != nil {
			t.WriteString(s.policy + ": ")
			s.joint.Text(t)
		}
	}
}
