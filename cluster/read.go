package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"productform/internal/input"
)

const (
	maxFile = 64 << 20 // bytes read
	maxYAML = 32 << 20 // bytes of YAML read; its parser takes a hundred times as much memory
)

// ReadJSON reads a model from a JSON text:
//
//	{"servers": [{"name": "s1", "capacity": 1}, {"name": "rack", "count": 100, "capacity": "1/2"}],
//	 "classes": [{"name": "a", "arrival_rate": "4/5", "servers": ["s1", {"group": "rack", "choose": 2}]}],
//	 "mean_size": 1}
//
// Numbers are JSON numbers or strings and are taken exactly as written: 0.1, "0.1" and
// "1/10" are all one tenth. count is 1 if missing, as is mean_size.
//
// The error is a *[SyntaxError] where the text is not JSON, and otherwise wraps an
// *[InputError] with the path of the field, its value and what is accepted: for an unknown,
// missing or repeated field, a value of another type, and all that [Model.Check] refuses.
// At most 64 MiB are read.
func ReadJSON(r io.Reader) (*Model, error) { return read(r, parseJSON) }

// ReadYAML reads a model from a YAML text of one document with the fields of [ReadJSON].
// Numbers are in base ten: 1_000, 0x10, 010, .inf and .nan are refused; an unquoted 1/2 is
// one half. Anchors, aliases, merge keys and tags are refused. At most 32 MiB are read.
func ReadYAML(r io.Reader) (*Model, error) { return read(r, parseYAML) }

// Read reads a model as JSON if its first character other than a space is { or [, else as YAML.
func Read(r io.Reader) (*Model, error) {
	return read(r, func(data []byte) (*node, error) {
		if start := bytes.TrimLeft(data, " \t\r\n"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
			return parseJSON(data)
		}
		return parseYAML(data)
	})
}

// ReadFile reads the file as [ReadJSON] if its name ends in .json, as [ReadYAML] if it ends
// in .yaml or .yml, else as [Read]. Errors start with the name of the file.
func ReadFile(name string) (*Model, error) {
	m, err := readFile(name)
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err // the rest of it repeats the name
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func readFile(name string) (*Model, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return ReadJSON(f)
	case ".yaml", ".yml":
		return ReadYAML(f)
	}
	return Read(f)
}

// read reads text, parses it and builds the model.
func read(r io.Reader, parse func([]byte) (*node, error)) (*Model, error) {
	data, err := readText(r)
	if err != nil {
		return nil, err
	}
	tree, err := parse(data)
	if err != nil {
		return nil, err
	}
	return decodeModel(tree)
}

// readText reads everything, if it is text: UTF-8 without control characters. A byte order
// mark is dropped.
func readText(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, errTooLong(maxFile, "a text")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errEmpty()
	}
	for i := 0; i < len(data); {
		c, size := rune(data[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(data[i:])
		}
		if c == utf8.RuneError && size == 1 {
			return nil, syntaxErrorAt(data, i, "byte 0x%02x; want text in UTF-8", data[i])
		}
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return nil, syntaxErrorAt(data, i, "byte 0x%02x; want text without control characters", data[i])
		}
		i += size
	}
	return data, nil
}

func errEmpty() error {
	return input.Errorf("", "an empty file", "a model with servers and classes")
}

func errTooLong(limit int, what string) error {
	return input.Errorf("", "a longer one", "%s of at most %d MiB", what, limit>>20)
}
