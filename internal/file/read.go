package file

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"productform/internal/input"
)

const (
	maxFile  = 64 << 20 // bytes read
	maxYAML  = 32 << 20 // bytes of YAML read; its parser needs a hundred times as much memory
	maxMarks = 4 << 20  // colons, commas and so on in YAML; its parser needs about 1 KiB for each
)

// A Format is a file format for trees.
type Format uint8

// The formats.
const (
	Auto Format = iota // JSON if the first character other than a space is { or [, otherwise YAML
	JSON
	YAML // one document, without anchors, aliases, merge keys and tags
)

// Read reads a tree. For an empty text it returns an error with want, such as "a model with servers
// and classes". It reads at most 64 MiB of JSON, or 32 MiB of YAML with 4,194,304 colons, commas
// and other marks; the text must be UTF-8 without control characters, with or without a byte order
// mark.
func Read(r io.Reader, format Format, want string) (*Node, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	return Parse(data, format, want)
}

// Parse reads the text of a tree like [Read].
func Parse(data []byte, format Format, want string) (*Node, error) {
	data, err := checkText(data)
	if err != nil {
		return nil, err
	}
	if start := bytes.TrimLeft(data, jsonSpace); format == Auto && len(start) > 0 &&
		(start[0] == '{' || start[0] == '[') {
		format = JSON
	}
	var n *Node
	switch {
	case len(bytes.TrimSpace(data)) == 0:
	case format == JSON:
		n, err = parseJSON(data)
	default:
		n, err = parseYAML(data)
	}
	if n == nil && err == nil {
		return nil, input.Errorf("", "an empty file", "%s", want)
	}
	return n, err
}

// ReadFile reads a file in the format given by its name: JSON for .json, YAML for .yaml or .yml,
// otherwise Auto. Errors start with the name of the file.
func ReadFile[T any](name string, read func(io.Reader, Format) (*T, error)) (*T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, InFile(name, err)
	}
	defer f.Close()
	format := Auto
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		format = JSON
	case ".yaml", ".yml":
		format = YAML
	}
	v, err := read(f, format)
	if err != nil {
		return nil, InFile(name, err)
	}
	return v, nil
}

// A Checked value can check itself.
type Checked interface{ Check() error }

// DecodeRoot decodes a value from a tree and checks it. Errors have the line of the field that they
// concern, and its value as written.
func DecodeRoot[T Checked](root *Node, decode func(*Node) (T, error)) (v T, err error) {
	made, err := decode(root)
	if err == nil {
		err = root.AsWritten(made.Check())
	}
	if err != nil {
		return v, root.Locate(err)
	}
	return made, nil
}

// checkText requires text: UTF-8 without control characters. It drops a byte order mark.
func checkText(data []byte) ([]byte, error) {
	if len(data) > maxFile {
		return nil, input.Errorf("", "a longer one", "a text of at most %d MiB", maxFile>>20)
	}
	if err := input.CheckEncoding(data); err != nil {
		return nil, syntaxErrorAt(data, 0, "%v", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
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
