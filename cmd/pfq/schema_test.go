package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
	"productform/network"
	"productform/network/loss"
	"productform/network/swap"
	"productform/plan"
)

// A kind is a kind of model files: its name in the schema, its files, and its reader.
type kind struct {
	name  string
	files []string
	read  func(io.Reader) error
}

// reader discards the result of a reader and returns its error.
func reader[T any](read func(io.Reader) (T, error)) func(io.Reader) error {
	return func(r io.Reader) error {
		_, err := read(r)
		return err
	}
}

func kinds(t *testing.T) []kind {
	t.Helper()
	glob := func(patterns ...string) (files []string) {
		for _, p := range patterns {
			found, err := filepath.Glob(p)
			if err != nil || len(found) == 0 {
				t.Fatalf("%s: %v, %v", p, found, err)
			}
			files = append(files, found...)
		}
		return files
	}
	networks := func(names ...string) (files []string) {
		for _, n := range names {
			files = append(files, filepath.Join("examples/networks", n+".yaml"))
		}
		return files
	}
	isGang := func(file string) bool { return filepath.Base(file) == "training.yaml" }
	clusters := glob("examples/*.yaml", "../../examples/*/model.yaml")
	gangs := glob("examples/training.yaml")
	clusters = slices.DeleteFunc(clusters, isGang)
	return []kind{
		{"cluster", clusters, reader(cluster.Read)},
		{"gangs", gangs, reader(cluster.Read)},
		{"pool", glob("examples/pools/*.yaml"), reader(fluid.ReadPool)},
		{"traffic", glob("examples/traffic/*.yaml"), reader(traffic.Read)},
		{
			"plan", glob("examples/plans/*.yaml"),
			reader(func(r io.Reader) (*plan.Problem, error) { return plan.Read(r, "examples/plans") }),
		},
		{"network", networks("batch", "interactive", "reentrant", "ten-servers"), reader(network.Read)},
		{"losses", networks("call-centre", "tokens", "trunks"), reader(loss.Read)},
		{"swaps", networks("swaps"), reader(swap.Read)},
	}
}

// fileSchemas returns the schema of each kind of file, and the schema for all kinds.
func fileSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	text, stderr, status := pfq("", "help", "model", "--format", "schema")
	if status != 0 || stderr != "" {
		t.Fatalf("%d: %s", status, stderr)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("model.json", document); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, k := range kinds(t) {
		if schemas[k.name], err = c.Compile("model.json#/$defs/" + k.name); err != nil {
			t.Fatal(err)
		}
	}
	if schemas["any"], err = c.Compile("model.json"); err != nil {
		t.Fatal(err)
	}
	return schemas
}

// decoded returns a file as JSON values.
func decoded(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// For variants of the files that come with pfq, readers and schema accept and reject the same ones:
// with an unknown field, a missing field, or an object or boolean in place of another type.
func TestSchemaMatchesReaders(t *testing.T) {
	schemas := fileSchemas(t)
	for _, k := range kinds(t) {
		for _, file := range k.files {
			model := decoded(t, file)
			verdicts := func() (bySchema, byReader error) {
				text, err := json.Marshal(model)
				if err != nil {
					t.Fatal(err)
				}
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if bySchema = schemas[k.name].Validate(v); bySchema == nil {
					if err := schemas["any"].Validate(v); err != nil {
						t.Errorf("%s: valid as %s, but not as a model: %v", file, k.name, err)
					}
				}
				return bySchema, k.read(bytes.NewReader(text))
			}
			if a, b := verdicts(); a != nil || b != nil {
				t.Errorf("%s: the schema returns %v, the reader %v", file, a, b)
				continue
			}
			refused := 0
			vary(model, "", func(where string, both bool) {
				a, b := verdicts()
				if a != nil {
					refused++
				}
				if a != nil && b == nil || both && (a == nil || b == nil) {
					t.Errorf("%s, %s: the schema returns %v, the reader %v", file, where, a, b)
				}
			})
			if refused < 10 {
				t.Errorf("%s: the schema rejects only %d variants", file, refused)
			}
		}
	}
}

// A validator names the path of a mistake, not all other kinds of files: of a misspelt field in a
// row, of a negative number, and of another type instead of a list, also in the cluster of a plan.
func TestSchemaNamesThePlace(t *testing.T) {
	model := fileSchemas(t)["any"]
	for _, k := range kinds(t) {
		for _, file := range k.files {
			whole := decoded(t, file).(map[string]any)
			if k.name == "plan" {
				whole["model"] = decoded(t, "examples/three-servers.yaml")
			}
			for key, list := range whole {
				rows, _ := list.([]any)
				if key == "model" {
					key, rows = "model/classes", list.(map[string]any)["classes"].([]any)
				}
				if len(rows) == 0 {
					continue
				}
				last, ok := rows[len(rows)-1].(map[string]any)
				if !ok {
					continue
				}
				last["arival_rate"] = 1
				places := mistakes(model, whole)
				delete(last, "arival_rate")
				if want := fmt.Sprintf("/%s/%d", key, len(rows)-1); !slices.Equal(places, []string{want}) {
					t.Errorf("%s: the error is at %q, want %s", file, places, want)
				}
			}
		}
	}
	cluster := decoded(t, "examples/three-servers.yaml").(map[string]any)
	class := cluster["classes"].([]any)[0].(map[string]any)
	class["arrival_rate"] = -1
	if places := mistakes(model, cluster); len(places) == 0 || places[0] != "/classes/0/arrival_rate" {
		t.Errorf("a negative rate: the error is at %q", places)
	}
	class["arrival_rate"], class["servers"] = 1, "own-1"
	if places := mistakes(model, cluster); !slices.Equal(places, []string{"/classes/0/servers"}) {
		t.Errorf("servers that are not a list: the error is at %q", places)
	}
}

// mistakes returns the paths at which a value violates a schema.
func mistakes(s *jsonschema.Schema, value any) (places []string) {
	var wrong *jsonschema.ValidationError
	if !errors.As(s.Validate(value), &wrong) {
		return nil
	}
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			walk(c)
		}
		if len(e.Causes) == 0 {
			places = append(places, "/"+strings.Join(e.InstanceLocation, "/"))
		}
	}
	walk(wrong)
	return places
}

// vary calls check on variants of a value with one change each: an unknown field in an object, a
// missing field, or an object or boolean in place of a value. If both is true, schema and reader
// must reject the variant.
func vary(v any, path string, check func(where string, both bool)) {
	switch v := v.(type) {
	case map[string]any:
		free := slices.ContainsFunc([]string{".demand", ".declared", ".next", ".arrives"}, func(s string) bool {
			return strings.HasSuffix(path, s)
		})
		if !free { // keys of free objects are names
			v["unknown_field"] = 1
			check(path+", an unknown field", true)
			delete(v, "unknown_field")
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			old := v[key]
			delete(v, key)
			check(path+"."+key+" removed", false)
			v[key] = map[string]any{"unknown_field": 1}
			check(path+"."+key+", an object", !slices.Contains([]string{"demand", "declared", "next", "arrives"}, key))
			v[key] = true
			check(path+"."+key+", true", key != "no_worse")
			v[key] = old
			vary(old, path+"."+key, check)
		}
	case []any:
		for k := range min(len(v), 3) {
			vary(v[k], fmt.Sprintf("%s[%d]", path, k), check)
		}
	}
}

// For files with one random change, readers reject everything that the schema rejects; the schema
// rejects everything that readers reject because of the type or sign of one value.
func TestSchemaOnRandomChanges(t *testing.T) {
	schemas, all := fileSchemas(t), kinds(t)
	rapid.Check(t, func(r *rapid.T) {
		k := rapid.SampledFrom(all).Draw(r, "kind")
		model := decoded(t, rapid.SampledFrom(k.files).Draw(r, "file"))
		path, inOneValue := change(r, &model)
		text, err := json.Marshal(model)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		bySchema, byReader := schemas[k.name].Validate(v), k.read(bytes.NewReader(text))
		if bySchema != nil && byReader == nil || inOneValue && bySchema == nil {
			r.Errorf("%s, %s: the schema returns %v, the reader %v", k.name, path, bySchema, byReader)
		}
	})
}

// change changes one value of a file, and returns its path and whether the value is now invalid on
// its own.
func change(r *rapid.T, v *any) (path string, inOneValue bool) {
	descend := func(n int) bool { return n > 0 && rapid.IntRange(0, 9).Draw(r, "depth") > 0 }
	switch x := (*v).(type) {
	case map[string]any:
		if !descend(len(x)) {
			break
		}
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(x))).Draw(r, "key")
		if rapid.IntRange(0, 9).Draw(r, "removed") == 0 {
			delete(x, key)
			return "." + key + " removed", false
		}
		inner := x[key]
		path, inOneValue = change(r, &inner)
		x[key] = inner
		return "." + key + path, inOneValue
	case []any:
		if !descend(len(x)) {
			break
		}
		i := rapid.IntRange(0, len(x)-1).Draw(r, "index")
		path, inOneValue = change(r, &x[i])
		return fmt.Sprintf("[%d]%s", i, path), inOneValue
	}
	if _, isNumber := (*v).(int); isNumber && rapid.Bool().Draw(r, "negative") {
		*v = -1
		return " = -1", true
	}
	other := rapid.SampledFrom([]any{[]any{}, "", "x", 0, 1, -1, 1.5, 1e9}).Draw(r, "value")
	*v = other
	return fmt.Sprintf(" = %v", other), false
}

// Every field of a file has a description.
func TestSchemaDescribesAllFields(t *testing.T) {
	text, _, _ := pfq("", "help", "model", "--format", "schema")
	var schema map[string]any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	kinds := schema["$defs"].(map[string]any)
	for _, k := range kinds {
		if k, ok := k.(map[string]any)["properties"].(map[string]any); ok {
			checkDescribed(t, "", k)
		}
	}
}

func checkDescribed(t *testing.T, path string, fields map[string]any) {
	t.Helper()
	for name, f := range fields {
		f := f.(map[string]any)
		if f["description"] == nil {
			t.Errorf("%s.%s has no description", path, name)
		}
		if items, ok := f["items"].(map[string]any); ok && path+name != "targets" {
			f = items
		}
		if more, ok := f["properties"].(map[string]any); ok {
			checkDescribed(t, path+"."+name, more)
		}
	}
}

// Every field of the topic model is in the schema, and only that topic has a schema.
func TestSchemaHasAllFields(t *testing.T) {
	schema, _, _ := pfq("", "help", "model", "--format", "schema")
	text, _, _ := pfq("", "help", "model")
	fields := 0
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  ") && len(words) > 2 &&
			!strings.ContainsAny(words[0], ":-{[,") && strings.Contains(line, words[0]+strings.Repeat(" ", 3)) {
			fields++
			if !strings.Contains(schema, `"`+words[0]+`"`) {
				t.Errorf("the schema lacks %s", words[0])
			}
		}
	}
	if fields < 60 {
		t.Errorf("only %d fields", fields)
	}
	if _, stderr, status := pfq("", "help", "solve", "--format", "schema"); status != 2 ||
		!strings.Contains(stderr, "--format = schema: want text, or the topic model") {
		t.Errorf("%d: %s", status, stderr)
	}
}

// In other commands, every field that distinguishes systems with losses from clusters in the schema
// gets a hint to pfq network.
func TestLossFieldsHaveHint(t *testing.T) {
	text, err := os.ReadFile("internal/command/help/model.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema := commandtest.ParseJSON(t, string(text))
	for schema["then"].(map[string]any)["$ref"] != "#/$defs/losses" {
		schema = schema["else"].(map[string]any)
	}
	paths := requiredPaths(schema["if"].(map[string]any))
	if !slices.Contains(paths, "classes[0].sources") {
		t.Fatalf("%q lacks classes[0].sources", paths)
	}
	for _, path := range paths {
		bad := input.Errorf(path, "the number 2", "another field")
		if err := command.MeantForNetwork(bad, ""); !strings.Contains(err.Error(), "pfq network") {
			t.Errorf("%v: want the hint of MeantForNetwork in cmd/pfq/internal/command/read.go", err)
		}
	}
}

// requiredPaths returns the paths that a condition of a schema requires, except numbers of servers,
// which clusters give as a list.
func requiredPaths(condition map[string]any) (paths []string) {
	if all, ok := condition["anyOf"].([]any); ok {
		for _, one := range all {
			paths = append(paths, requiredPaths(one.(map[string]any))...)
		}
		return paths
	}
	name := condition["required"].([]any)[0].(string)
	properties, ok := condition["properties"].(map[string]any)
	if !ok {
		return []string{name}
	}
	if contains, ok := properties[name].(map[string]any)["contains"].(map[string]any); ok {
		for _, inner := range requiredPaths(contains) {
			paths = append(paths, name+"[0]."+inner)
		}
	}
	return paths
}
