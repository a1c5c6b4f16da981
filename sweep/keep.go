package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleAfter is the age at which a temporary file is attributed to a killed process. Writing one
// takes milliseconds.
const staleAfter = 24 * time.Hour

// folderDigits is the number of digits of a key that name the directory of its file, which limits
// the number of files per directory.
const folderDigits = 2

// fileOf returns the name of the file for a key.
func fileOf(folder, key string) string {
	return filepath.Join(folder, key[:folderDigits], key[folderDigits:]+".json")
}

// envelope returns the text of the file for a key: a JSON object with the key, the SHA-256 of the
// body, and the body.
func envelope(key string, body []byte) []byte {
	return fmt.Appendf(nil, `{"key":"%s","sha256":"%x","result":%s}`+"\n", key, sha256.Sum256(body), body)
}

// readFile returns the body of the file for a key, and whether the file is exactly as writeFile
// writes it.
func readFile(folder, key string) (body []byte, ok bool) {
	text, err := os.ReadFile(fileOf(folder, key))
	if err != nil {
		return nil, false
	}
	around := len(envelope(key, nil))
	if len(text) < around {
		return nil, false
	}
	tail := len("}\n")
	body = text[around-tail : len(text)-tail]
	return body, bytes.Equal(text, envelope(key, body))
}

// writeFile writes the file for a key under a name that no other process uses, then renames it.
func writeFile(folder, key string, body []byte) error {
	file := fileOf(folder, key)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = t.Write(envelope(key, body))
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.Name()))
	}
	return nil
}

// isTemporary reports whether a name is one that writeFile gives to temporary files.
func isTemporary(name string) bool {
	key, rest, ok := strings.Cut(name, ".json.")
	return ok && isHex(key, keyDigits-folderDigits) && strings.HasSuffix(rest, ".tmp")
}

// prepare creates the folder, checks that a file can be written there, and removes temporary files
// older than staleAfter. It touches nothing else.
func prepare(folder string, now time.Time) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	probe := strings.Repeat("0", keyDigits)
	t, err := os.CreateTemp(folder, probe[folderDigits:]+".json.*.tmp")
	if err != nil {
		return err
	}
	_, err = t.Write(bytes.Repeat(envelope(probe, nil), 64)) // several kilobytes, to detect a full disk
	if err := errors.Join(err, t.Close(), os.Remove(t.Name())); err != nil {
		return err
	}
	if err := removeStale(folder, now); err != nil {
		return err
	}
	folders, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range folders {
		if f.IsDir() && isHex(f.Name(), folderDigits) {
			if err := removeStale(filepath.Join(folder, f.Name()), now); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeStale removes the stale temporary files directly in a folder. It is not an error if another
// process removes or renames a file meanwhile.
func removeStale(folder string, now time.Time) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !f.Type().IsRegular() || !isTemporary(f.Name()) {
			continue
		}
		info, err := f.Info()
		if err == nil && now.Sub(info.ModTime()) > staleAfter {
			err = os.Remove(filepath.Join(folder, f.Name()))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// decode returns the value whose JSON is body. It returns an error if the JSON of that value
// differs from body: part of body was lost, or R has fields that body lacks.
func decode[R any](body []byte) (R, error) {
	var r, none R
	if err := json.Unmarshal(body, &r); err != nil {
		return none, err
	}
	again, err := json.Marshal(r)
	if err != nil {
		return none, err
	}
	if i := firstDifference(again, body); i >= 0 {
		return none, fmt.Errorf("JSON %s is read back as %s", excerpt(body, i), excerpt(again, i))
	}
	return r, nil
}

// firstDifference returns the first position at which two texts differ, or -1 if they are equal.
func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return i
}

// excerpt returns part of text around its byte at i.
func excerpt(text []byte, i int) []byte {
	return text[max(0, i-30):min(len(text), i+30)]
}
