package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"productform/cluster"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
)

// Read reads the file of the question, or the standard input if its name is "-". An error about a
// field of another command's files names that command, and an error about a field that no model has
// names an alternative.
func Read[T any](
	q Query, read func(io.Reader) (*T, error), readFile func(string) (*T, error), other string, fields ...string,
) (*T, error) {
	var v *T
	var err error
	if q.File != "-" {
		v, err = readFile(q.File)
	} else if v, err = read(q.Stdin); err != nil {
		err = file.InFile(cli.Source(q.File), err)
	}
	var bad *input.Error
	if errors.As(err, &bad) && bad.File == cli.Source(q.File) { // the error is about this file, not one that it names
		err = meantFor(err, other, fields...)
	}
	return v, hintService(hintAlternative(err))
}

// ReadModel reads the cluster of the question, with any service.
func ReadModel(q Query) (*cluster.Model, error) {
	m, err := Read(q, cluster.Read, cluster.ReadFile, "")
	err = MeantForPool(err)
	err = MeantForPlan(err)
	return m, MeantForNetwork(err, "which also simulates, with --runs")
}

// ReadModelOfAll reads the cluster of a question about jobs that run on all their servers at once,
// and rejects other services.
func ReadModelOfAll(q Query) (*cluster.Model, error) {
	m, err := ReadModel(q)
	if err == nil {
		err = InFile(q.File, cmp.Or(m.RequireService(cluster.AllServers), m.RequireNoTimeouts()))
	}
	return m, hintService(err)
}

// locate adds the line to an error about a number in the file of the question, and writes the
// number as the file does. If an answer is beyond the range of float64, locate returns an error
// about the first number of the file beyond it, if there is one. The file is read again; if that
// fails, the error stays as it is.
func locate(q Query, err error) error {
	bad, ok := err.(*input.Error)
	if !ok || bad.File != cli.Source(q.File) || bad.Line != 0 {
		return err
	}
	if bad.Path == "" && !outOfRange.MatchString(bad.Value) { // about the whole file, such as its length
		return err
	}
	root, _, again := Look(q, "")
	if again != nil {
		return err
	}
	if outOfRange.MatchString(bad.Value) {
		if far := root.BeyondFloat(""); far != nil {
			return input.InFile(bad.File, far)
		}
	}
	if located := root.LocateNumber(bad); located != nil {
		return located
	}
	return err
}

// outOfRange matches the values in errors of solvers about numbers out of their range.
var outOfRange = regexp.MustCompile("beyond|Inf|^capacities of")

// MeantForPool adds to an error about a field of pools that pools are for pfq allocate.
func MeantForPool(err error) error {
	return meantFor(err, "allocate, with --dynamic if jobs arrive and depart", ofModels("resources", "jobs")...)
}

// MeantForPlan adds to an error about a field of plans that plans are for pfq plan.
func MeantForPlan(err error) error {
	return meantFor(err, "plan", "model", "scale", "targets", "no_worse", "upgrades", "new_servers", "edges", "budget",
		"minimize")
}

// MeantForNetwork adds to an error about a field of networks or systems with losses that these are
// for pfq network, and a further hint.
func MeantForNetwork(err error, more string) error {
	fields := ofModels(
		"stations", "swaps", "room", "limits", "rank", "servers.tokens", "classes.sources", "classes.units",
	)
	return meantFor(err, "network, "+more, fields...)
}

// ClusterFields returns the names of fields that only clusters have, and some more.
func ClusterFields(more ...string) []string {
	return append([]string{"service", "mean_patience", "patience", "mean_timeout"}, more...)
}

// meantFor adds to an error about a field of another command's models the name of that command.
func meantFor(err error, command string, fields ...string) error {
	return hint(err, "this looks like a model for pfq "+command, fields...)
}

// hintAlternative adds an alternative to an error about a field that no model has.
func hintAlternative(err error) error {
	err = hint(err, "a larger weight gives a job a larger share, and pfq dispatch has priorities", "jobs.priority")
	var bad *input.Error
	if errors.As(err, &bad) && !strings.HasPrefix(bad.Want, "an integer") { // no model has such a field
		err = hint(err, "classes of a cluster with service: one have priorities, for pfq simulate; pfq dispatch gives "+
			"users with fewer jobs a higher one",
			ofModels("priority", "servers.priority", "classes.priority", "stations.priority")...)
	}
	if errors.As(err, &bad) && strings.HasPrefix(bad.Want, "one of the fields") { // not about its value
		err = hint(err, "jobs that hold several servers have service: gang", ofModels("classes.needs")...)
	}
	err = hint(err, "write one node for each server: capacity is its speed, not a number of servers",
		"stations.nodes.count")
	return hint(err, "purchases and their costs belong in a plan, for pfq plan",
		ofModels("cost", "servers.cost", "classes.cost", "stations.cost", "resources.cost", "jobs.cost")...)
}

// ofModels returns the paths of fields of a model, and of a model in a plan.
func ofModels(fields ...string) []string {
	for _, f := range fields {
		fields = append(fields, "model."+f)
	}
	return fields
}

// hint adds a text to an error about one of the fields.
func hint(err error, text string, fields ...string) error {
	var bad *input.Error
	if errors.As(err, &bad) && slices.Contains(fields, numbers.ReplaceAllString(bad.Path, "")) {
		return fmt.Errorf("%w; %s", err, text)
	}
	return err
}

// numbers are the row numbers in a path.
var numbers = regexp.MustCompile(`\[[0-9]+\]`)

// mostText is the maximum length of the text examined. It exceeds the limit of the readers: they
// reject longer texts.
const mostText = 65 << 20

// Look returns the tree of the file of the question, which should contain the kind of model that
// want describes, and a query that reads it again. Input that can be read only once, such as the
// standard input, is kept.
func Look(q Query, want string) (root *file.Node, again Query, err error) {
	from, regular, name := q.Stdin, false, cli.Source(q.File)
	if q.File != "-" {
		f, err := os.Open(q.File)
		if err != nil {
			return nil, q, file.InFile(name, err)
		}
		defer f.Close()
		info, err := f.Stat()
		from, regular = f, err == nil && info.Mode().IsRegular()
	}
	text, err := io.ReadAll(io.LimitReader(from, mostText))
	if err != nil {
		return nil, q, input.InFile(name, err)
	}
	format := file.Auto
	switch strings.ToLower(filepath.Ext(q.File)) {
	case ".json":
		format = file.JSON
	case ".yaml", ".yml":
		format = file.YAML
	}
	if root, err = file.Parse(text, format, want); err != nil {
		return nil, q, file.InFile(name, err)
	}
	if !regular {
		q.File, q.Stdin = "-", bytes.NewReader(text)
	}
	return root, q, nil
}

// HasField reports whether an object has one of the fields.
func HasField(n *file.Node, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(n.Keys, name) })
}

// IsNetwork reports whether a file holds a network, or a system with losses: without these fields
// and without tokens of servers it is a cluster.
func IsNetwork(root *file.Node) bool {
	servers := root.Get("servers")
	return HasField(root, "stations", "swaps", "room", "limits", "rank", "format") || servers != nil &&
		slices.ContainsFunc(servers.Kids, func(n file.Node) bool { return HasField(&n, "tokens") })
}
