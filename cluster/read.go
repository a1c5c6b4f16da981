package cluster

import (
	"io"

	"productform/internal/file"
)

// ReadJSON reads a model from a JSON text:
//
//	{"servers": [{"name": "s1", "capacity": 1}, {"name": "rack", "count": 100, "capacity": "1/2"}],
//	 "classes": [{"name": "a", "arrival_rate": "4/5", "servers": ["s1", {"group": "rack", "choose": 2}]}],
//	 "mean_size": 1}
//
// Numbers are JSON numbers or strings and are read exactly as written: 0.1, "0.1" and "1/10" are
// all one tenth. count is 1 if missing, as is mean_size. A class may have its own mean_size in
// place of the model's, and with "service": "one" a priority. With "service": "gang" classes have
// needs, and capacities may be missing:
//
//	{"service": "gang", "servers": [{"name": "gpu", "count": 16}, {"name": "memory", "count": 512}],
//	 "classes": [{"name": "a", "arrival_rate": 1, "servers": ["gpu"], "needs": 4},
//	             {"name": "b", "arrival_rate": 1, "needs": {"gpu": 4, "memory": 32}, "mean_size": 2}]}
//
// The error is a *[num.SyntaxError] if the text is not JSON. Otherwise it wraps an
// *[num.InputError] with the path of the field, its value and the accepted values: for an unknown,
// missing or repeated field, a value of the wrong type, and everything that [Model.Check] rejects.
// At most 64 MiB are read.
func ReadJSON(r io.Reader) (*Model, error) { return read(r, file.JSON) }

// ReadYAML reads a model from a YAML text of one document with the fields of [ReadJSON]. Numbers
// are in base ten: 1_000, 0x10, 010, .inf and .nan are rejected; an unquoted 1/2 is one half.
// Anchors, aliases, merge keys and tags are rejected. At most 32 MiB are read, with 4,194,304
// colons, commas and other marks.
func ReadYAML(r io.Reader) (*Model, error) { return read(r, file.YAML) }

// Read reads a model as JSON if its first character other than a space is { or [, otherwise as
// YAML.
func Read(r io.Reader) (*Model, error) { return read(r, file.Auto) }

// ReadFile reads the file as [ReadJSON] if its name ends in .json, as [ReadYAML] if it ends
// in .yaml or .yml, otherwise as [Read]. Errors start with the name of the file.
func ReadFile(name string) (*Model, error) { return file.ReadFile(name, read) }

func init() { file.Register(decode) }

// read reads a text and builds the model.
func read(r io.Reader, format file.Format) (*Model, error) {
	root, err := file.Read(r, format, "a model with servers and classes")
	if err != nil {
		return nil, err
	}
	return decode(root)
}

// decode returns the model that a tree describes.
func decode(root *file.Node) (*Model, error) {
	if n := root.Get("service"); n != nil && n.Kind == file.TextKind && n.Text == string(Gang) {
		return file.DecodeRoot(root, gangFile.Read)
	}
	return file.DecodeRoot(root, modelFile.Read)
}
