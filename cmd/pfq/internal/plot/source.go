package plot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/tree"
)

// A kind is what a file holds, in words.
type kind string

// The kinds.
const (
	clusterFile kind = "a cluster"
	planFile    kind = "a plan"
	trafficFile kind = "a pool of jobs that come and go"
	poolFile    kind = "a pool of jobs that stay"
)

// flagsOf returns the flags that are not for all kinds, and for which they are.
func flagsOf() map[string][]kind {
	return map[string][]kind{
		"show": {clusterFile, trafficFile, poolFile}, "percentiles": {clusterFile}, "distribution": {clusterFile},
		"policy": {trafficFile, poolFile}, "states": {trafficFile}, "runs": {clusterFile, trafficFile},
		"find": {planFile}, "limit": {planFile},
	}
}

// wordsOf returns what there is to --show of a kind, that without the flag first.
func wordsOf(k kind) (words, standard []string) {
	switch k {
	case trafficFile:
		return []string{delay, jobs, rate}, []string{delay, rate}
	case poolFile:
		return []string{tasks, utilization}, []string{tasks}
	}
	return []string{delay, jobs, rate, utilization}, []string{delay, utilization}
}

// A source is a file that has been looked at.
type source struct {
	kind kind
	text []byte // of what cannot be read twice, such as the standard input; nil for a file
}

// query returns the query with which the file is read again.
func (s source) query(q command.Query) command.Query {
	if s.text != nil {
		q.File, q.Stdin = "-", bytes.NewReader(s.text)
	}
	return q
}

// source looks at the file, and accepts the flags that are for what it holds.
func (f *plotFlags) source(q command.Query) (s source, err error) {
	if s.kind, s.text, err = look(q); err != nil {
		return s, err
	}
	for _, name := range []string{"show", "percentiles", "distribution", "policy", "states", "runs", "find", "limit"} {
		if kinds := flagsOf()[name]; f.given(name) && !slices.Contains(kinds, s.kind) {
			return s, command.FlagError{Err: fmt.Errorf("--%s is of no use here: it is for %s, and %s holds %s", name, orOf(kinds), cli.Source(q.File), s.kind)}
		}
	}
	words, standard := wordsOf(s.kind)
	if !f.given("show") {
		f.show = standard
	}
	for _, word := range f.show {
		if s.kind != planFile && !slices.Contains(words, word) {
			return s, command.FlagError{Err: input.Errorf("--show", word, "%s, of %s", cli.OneOf(words), s.kind)}
		}
	}
	return s, nil
}

// orOf returns "a, b or c".
func orOf(kinds []kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, string(k))
	}
	if len(words) == 1 {
		return words[0]
	}
	return cli.OneOf(words)
}

// mostText bounds what is looked at: the readers take no more.
const mostText = 65 << 20

// look says what a file holds by its fields, and returns the text of one that cannot be read twice.
func look(q command.Query) (k kind, text []byte, err error) {
	from, name := q.Stdin, cli.Source(q.File)
	again := false
	if q.File != "-" {
		file, err := os.Open(q.File)
		if err != nil {
			return k, nil, command.FlagError{Err: input.InFile(q.File, err)}
		}
		defer file.Close()
		from = file
		info, err := file.Stat()
		again = err == nil && info.Mode().IsRegular()
	}
	if text, err = io.ReadAll(io.LimitReader(from, mostText)); err != nil {
		return k, nil, command.FlagError{Err: input.InFile(name, err)}
	}
	if isLog(q.File) {
		return k, nil, command.FlagError{Err: fmt.Errorf("%s: a log of jobs, which pfq dispatch replays: want a cluster, a plan or a pool", name)}
	}
	root, err := tree.Read(bytes.NewReader(text), formatOfText(q.File), "a cluster, a plan or a pool")
	if err != nil {
		return k, nil, command.FlagError{Err: tree.InFile(name, err)}
	}
	if again {
		text = nil
	}
	return kindOf(root), text, nil
}

// isLog reports whether the name is that of a log of jobs.
func isLog(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return strings.HasSuffix(name, ".swf")
}

// formatOfText returns the format that the name of a file tells.
func formatOfText(name string) tree.Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return tree.JSON
	case ".yaml", ".yml":
		return tree.YAML
	}
	return tree.Auto
}

// kindOf tells what a file holds: a plan has fields that a cluster has not, a pool has resources or jobs, which come and go if one has
// an arrival rate or a mean size.
func kindOf(root *tree.Node) kind {
	has := func(n *tree.Node, names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(n.Keys, name) })
	}
	switch {
	case has(root, "model", "targets", "upgrades", "new_servers", "edges", "budget", "minimize", "no_worse"):
		return planFile
	case !has(root, "resources", "jobs"):
		return clusterFile
	}
	if at := slices.Index(root.Keys, "jobs"); at >= 0 {
		for _, job := range root.Kids[at].Kids {
			if has(&job, "arrival_rate", "mean_size", "declared") {
				return trafficFile
			}
		}
	}
	return poolFile
}
