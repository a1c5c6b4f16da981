package traces

import (
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
)

//go:embed SDSC-Par-1996-3.1-cln.swf.gz
var sdscPar1996 string

// A trace is a log as the archive packs it.
type trace struct {
	name   string
	packed string
}

// traces returns all logs, in alphabetical order of their names.
func traces() []trace {
	return []trace{{"SDSC-Par-1996", sdscPar1996}}
}

// Names returns the names of the logs, in alphabetical order.
func Names() []string {
	var names []string
	for _, t := range traces() {
		names = append(names, t.name)
	}
	return names
}

// Open returns the text of a log, which is unpacked as it is read. The name is one of [Names]; the
// error for another one lists them.
func Open(name string) (io.ReadCloser, error) {
	for _, t := range traces() {
		if t.name != name {
			continue
		}
		text, err := gzip.NewReader(strings.NewReader(t.packed))
		if err != nil {
			return nil, fmt.Errorf("traces: %s: %w", name, err)
		}
		return text, nil
	}
	return nil, fmt.Errorf("traces: name = %q: want one of %s", name, strings.Join(Names(), ", "))
}
