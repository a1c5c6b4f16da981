package keys

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"runtime"

	"productform/live/wire"
	"productform/num"
)

// A File is a key with everything that its owner needs to connect.
type File struct {
	Role      Role   `json:"role"`
	Name      string `json:"name"`      // name of the key
	URL       string `json:"url"`       // URL of the server, or several separated by commas
	Seed      string `json:"seed"`      // secret half of the key
	Authority string `json:"authority"` // PEM certificate of the authority that signs the servers
}

// Read reads and checks a key file. On systems with file owners, it rejects a file that others may
// read.
func Read(path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, &num.InputError{
			File:  path,
			Path:  "mode",
			Value: info.Mode().Perm().String(),
			Want:  "a file for its owner only, -rw-------",
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := parse(text)
	if e, ok := err.(*num.InputError); ok {
		e.File = path
	}
	return f, err
}

// parse reads the text of a key file.
func parse(text []byte) (*File, error) {
	var f File
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, &num.InputError{Want: "an unmodified key file", Cause: err}
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &num.InputError{Want: "one JSON object"}
	}
	if err := checkRole("role", f.Role); err != nil {
		return nil, err
	}
	if err := wire.CheckName("name", f.Name); err != nil {
		return nil, err
	}
	if err := checkURL("url", f.URL); err != nil {
		return nil, err
	}
	_, err := f.options()
	return &f, err
}

func checkRole(path string, r Role) error {
	for _, known := range Roles() {
		if r == known {
			return nil
		}
	}
	return &num.InputError{Path: path, Value: string(r), Want: "manager, worker, client or monitor"}
}
