package plan

import (
	"slices"

	"productform/cluster"
	"productform/internal/input"
)

// A form describes the targets on one measure.
type form struct {
	measure  Measure
	field    string   // field of a file with the limit
	with     string   // field of the level of a percentile or of the time of a service level; "" for none
	about    string   // "class", "server", or "" for neither
	all      bool     // the class may be missing, for all jobs
	want     string   // range of the limit
	isLeast  bool     // the limit is a minimum
	name     string   // such as "mean delay"
	services []string // services of the models that have the measure
}

const (
	serviceAll  = string(cluster.AllServers)
	serviceOne  = string(cluster.OneServer)
	serviceGang = string(cluster.Gang)
)

// forms lists all measures. It is never modified.
var forms = []form{
	{MeanDelay, "mean_delay", "", "class", true, input.Positive, false, "mean delay",
		[]string{serviceAll, serviceOne, serviceGang, ServiceNetwork}},
	{MeanWaiting, "mean_waiting", "", "class", true, input.Positive, false, "mean waiting",
		[]string{serviceOne, serviceGang, ServiceLoss}},
	{Abandon, "abandon_probability", "", "class", true, wantBusy, false, "abandon probability", []string{serviceOne}},
	{Percentile, "delay", percentileField, "class", false, input.Positive, false, "delay",
		[]string{serviceAll, serviceOne}},
	{WaitingPercentile, "waiting", percentileField, "class", false, input.Positive, false, "waiting",
		[]string{serviceOne}},
	{WaitingWithin, "waiting", withinField, "class", false, wantBusy, true, "waiting", []string{serviceOne}},
	{ServedWithin, "served", withinField, "class", false, wantBusy, true, "served", []string{serviceOne}},
	{ServedShareWithin, "served_share", withinField, "class", false, wantBusy, true, "served share",
		[]string{serviceOne}},
	{DelayWithin, "delay", withinField, "class", false, wantBusy, true, "delay", []string{serviceOne}},
	{Utilization, "utilization", "", "server", false, wantBusy, false, "utilization",
		[]string{serviceAll, serviceOne, serviceGang, ServiceNetwork}},
	{Throughput, "throughput", "", "class", true, input.Positive, true, "throughput",
		[]string{ServiceNetwork, ServiceLoss}},
	{ResponseTime, "mean_response_time", "", "class", true, input.Positive, false, "mean response time",
		[]string{ServiceNetwork}},
	{Blocking, "blocking", "", "class", true, wantBusy, false, "blocking", []string{ServiceLoss}},
	{FIFOWaste, "fifo_waste", "", "", false, wantBusy, false, "fifo waste", []string{serviceGang}},
	{LoadFactor, "load_factor", "", "", false, input.Positive, true, "load factor",
		[]string{serviceAll, serviceOne, serviceGang}},
	{Margin, "margin", "", "", false, input.Positive, true, "margin", []string{serviceAll, serviceOne}},
}

const (
	percentileField = "percentile"
	withinField     = "within"
)

// form returns the form of the measure of a target; that of an unknown measure is zero.
func (t Target) form() form {
	i := slices.IndexFunc(forms, func(f form) bool { return f.measure == t.Measure })
	if i < 0 {
		return form{}
	}
	return forms[i]
}

// isTime reports whether a measure is the distribution of a time of a class, at one time or level.
func (m Measure) isTime() bool { return Target{Measure: m}.form().with != "" }

// isDelay reports whether a measure depends on how long jobs are in service.
func (m Measure) isDelay() bool { return m == MeanDelay || m == Percentile || m == DelayWithin }

// measureNames lists the measures of models with a service.
func measureNames(service string) (names []string) {
	for _, f := range forms {
		if slices.Contains(f.services, service) {
			name := f.field
			if f.with != "" {
				name = f.field + " with " + f.with
			}
			names = append(names, name)
		}
	}
	return names
}
