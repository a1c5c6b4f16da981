package plot

import (
	"fmt"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
)

// A kind describes the content of a file in words.
type kind string

// The kinds of files.
const (
	clusterFile  kind = "a cluster"
	oneFile      kind = "a cluster with service: one"
	patienceFile kind = "a cluster with mean_patience"
	timeoutFile  kind = "a cluster with mean_timeout"
	gangFile     kind = "a cluster with service: gang"
	networkFile  kind = "a network"
	planFile     kind = "a plan"
	trafficFile  kind = "a pool of jobs that arrive and depart"
	poolFile     kind = "a pool of permanent jobs"
)

// A limited is a flag that only some kinds accept.
type limited struct {
	flag  string
	kinds []kind
}

// limits returns the flags that only some kinds accept.
func limits() []limited {
	services := []kind{oneFile, patienceFile, timeoutFile, gangFile}
	clusters := append([]kind{clusterFile}, services...)
	return []limited{
		{"show", append(clusters, networkFile, trafficFile, poolFile)}, {"classes", clusters},
		{"percentiles", []kind{clusterFile, oneFile, patienceFile}}, {"distribution", []kind{clusterFile}},
		{"within", []kind{oneFile, patienceFile}}, {"count", services},
		{"population", []kind{networkFile}},
		{"policy", []kind{trafficFile, poolFile}}, {"states", []kind{trafficFile}},
		{"runs", append(clusters, trafficFile)},
		{"find", []kind{planFile}}, {"limit", []kind{planFile}},
	}
}

// limitedTo returns the kinds that accept a flag.
func limitedTo(flag string) []kind {
	all := limits()
	return all[slices.IndexFunc(all, func(l limited) bool { return l.flag == flag })].kinds
}

// wordsOf returns the possible values of --show for a kind, and its default.
func wordsOf(k kind) (words, standard []string) {
	switch k {
	case trafficFile:
		return []string{delay, jobs, rate}, []string{delay, rate}
	case poolFile:
		return []string{tasks, utilization}, []string{tasks}
	case oneFile:
		words = []string{waiting, waits, delay, jobs, queue, utilization, servedBy}
		return words, []string{waiting, utilization}
	case patienceFile:
		words = []string{waiting, waits, abandons, delay, jobs, queue, utilization, servedBy}
		return words, []string{waiting, abandons, utilization}
	case timeoutFile:
		return []string{delay, timesOut, jobs}, []string{delay, timesOut}
	case networkFile:
		words = []string{throughput, response, delay, blocking, waiting, utilization, jobs}
		return words, []string{throughput, response, blocking, utilization}
	case gangFile:
		return []string{waiting, waits, delay, jobs, queue, utilization, waste}, []string{waiting, utilization}
	}
	return []string{delay, jobs, rate, utilization}, []string{delay, utilization}
}

// A source is a file whose content is known.
type source struct {
	kind  kind
	query command.Query // query that reads it again
}

// source examines the file, and rejects flags that do not apply to its content.
func (f *question) source(q command.Query) (s source, err error) {
	if isLog(q.File) {
		return s, cli.FlagError{Err: fmt.Errorf("%s: a log of jobs, which pfq dispatch replays: "+
			"want a cluster, a plan or a pool", q.File)}
	}
	root, again, err := command.Look(q, "a cluster, a plan or a pool")
	if err != nil {
		return s, cli.FlagError{Err: err}
	}
	s.kind, s.query = kindOf(root), again
	for _, l := range limits() {
		if f.given(l.flag) && !slices.Contains(l.kinds, s.kind) {
			return s, cli.FlagError{Err: fmt.Errorf("--%s needs %s, and %s holds %s",
				l.flag, joinOr(l.kinds), cli.Source(q.File), s.kind)}
		}
	}
	if f.scaling.Class != "" && !slices.Contains(limitedTo("count"), s.kind) {
		return s, cli.FlagError{Err: fmt.Errorf("--scale %s= needs %s, and %s holds %s",
			f.scaling.Class, joinOr(limitedTo("count")), cli.Source(q.File), s.kind)}
	}
	words, standard := wordsOf(s.kind)
	if !f.given("show") {
		f.show = standard
	}
	for _, word := range f.show {
		if s.kind != planFile && !slices.Contains(words, word) {
			return s, cli.FlagError{Err: input.Errorf("--show", word, "%s, of %s", cli.OneOf(words), s.kind)}
		}
	}
	return s, nil
}

// joinOr returns "a, b or c". A cluster stands for all kinds of clusters if they are listed.
func joinOr(kinds []kind) string {
	var words []string
	for _, k := range kinds {
		if slices.Contains(kinds, clusterFile) && slices.Contains(kinds, gangFile) &&
			slices.Contains(limitedTo("count"), k) {
			continue
		}
		words = append(words, string(k))
	}
	if len(words) == 1 {
		return words[0]
	}
	return cli.OneOf(words)
}

// isLog reports whether the name is that of a log of jobs.
func isLog(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return strings.HasSuffix(name, ".swf")
}

// kindOf determines the content of a file: a plan has fields that a cluster lacks, a pool has
// resources or jobs, which are traffic if one has an arrival rate or a mean size.
func kindOf(root *file.Node) kind {
	switch {
	case command.IsNetwork(root):
		return networkFile
	case command.HasField(
		root, "model", "targets", "upgrades", "new_servers", "edges", "budget", "minimize", "no_worse",
	):
		return planFile
	case !command.HasField(root, "resources", "jobs"):
		return serviceKind(root)
	}
	if at := slices.Index(root.Keys, "jobs"); at >= 0 {
		for _, job := range root.Kids[at].Kids {
			if command.HasField(&job, "arrival_rate", "mean_size", "declared") {
				return trafficFile
			}
		}
	}
	return poolFile
}
