// This file lets several processes, on one machine or many, share the runs of a command that
// simulates.
//
// The runs of a command are the tasks of a sweep, and a folder of results holds the finished ones.
// The command reads them there, whichever process computed them, and its answer has the same digits
// as that of a single process. There are two ways to fill the folder:
//
//	--part K/N    the process does the runs whose number is K modulo N, and writes them to a folder that all share
//	--tasks list  the process names the runs that are missing; others do them by --tasks serve, and their results
//	              are put into the folder by whoever gave them away ([productform/sweep.Put])
//
// Lists and answers are lines of JSON, the first of which is a [Fingerprint]. If all fingerprints
// are equal, the digits are those of a single process.

package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"productform/internal/input"
)

// A Task is a line of a list: a missing run. Cost is its expected work, in any unit.
type Task struct {
	Key  string  `json:"key"`
	Cost float64 `json:"cost"`
}

// An Answer is a line written by serve: the result for a key, or the reason for its absence.
type Answer struct {
	Key    string          `json:"key"`
	SHA256 string          `json:"sha256,omitempty"` // hash of Result
	Result json.RawMessage `json:"result,omitempty"` // exactly the bytes for [productform/sweep.Put]
	Error  string          `json:"error,omitempty"`
}

// ParseAnswer reads a line written by serve. It returns an error if the line is malformed or the
// result does not match its hash.
func ParseAnswer(line []byte) (Answer, error) {
	var a Answer
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&a)
	if _, more := d.Token(); err == nil && more != io.EOF {
		err = errors.New("more text follows")
	}
	switch {
	case err != nil:
		return Answer{}, input.Errorf("answer", string(line[:min(len(line), 60)]), "a line of --tasks serve (%v)", err)
	case a.Error == "" && a.SHA256 != digest(a.Result):
		return Answer{}, input.Errorf("sha256", a.SHA256, "%s, that of the result", digest(a.Result))
	}
	return a, nil
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// line returns the value as a line of JSON.
func line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(text, '\n'), err
}
