package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/render"
)

// DifferentSizes is the note on an answer of balanced fairness for classes of different mean sizes.
const DifferentSizes = "mean sizes differ by class: the answer is that of balanced fairness, " +
	"not that of first come, first served"

// FirstCome is the reason why priorities have no effect on an answer with formulas.
const FirstCome = ": the answer is that of first come, first served; pfq simulate --policy priority uses them"

// PrioritiesIgnored returns the note that priorities have no effect, with a reason that continues
// the sentence; "" if no class of the model has a priority, or if the model is nil.
func PrioritiesIgnored(m *cluster.Model, reason string) string {
	if m == nil || !HasPriorities(m) {
		return ""
	}
	return "priorities have no effect" + reason
}

// NotePriorities writes the note of [PrioritiesIgnored] for an answer that has no place for it.
func NotePriorities(stderr io.Writer, m *cluster.Model, reason string) {
	if note := PrioritiesIgnored(m, reason); note != "" {
		fmt.Fprintln(stderr, "pfq: note:", note)
	}
}

// HasPriorities reports whether any class of the model has a priority.
func HasPriorities(m *cluster.Model) bool {
	return slices.ContainsFunc(m.Classes, func(c cluster.Class) bool { return c.Priority != 0 })
}

// ServiceHead returns the first fields of an answer about a cluster, which name its service.
func ServiceHead(m *cluster.Model, stable bool) render.Record {
	return render.Record{}.Set("stable", stable, "").Set("service", cmp.Or(m.Service, cluster.AllServers), "")
}

// WriteService writes a line that explains the service of a cluster.
func WriteService(t *render.Text, m *cluster.Model) {
	switch m.Service {
	case cluster.OneServer:
		t.Line("each job runs on one of its servers (on all of them at once: service: all)")
	case cluster.Gang:
		t.Line("each job holds several servers at once, and one that does not fit blocks all jobs behind it")
	default:
		t.Line("each job runs on all its servers at once (on one of them: service: one)")
	}
}

// hintService adds to an error about the service which commands accept another one.
func hintService(err error) error {
	var bad *input.Error
	if errors.As(err, &bad) && bad.Want == string(cluster.AllServers) {
		return fmt.Errorf("%w; pfq solve, pfq stability and pfq simulate accept one and gang", err)
	}
	return err
}
