package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"productform/internal/input"
)

// Digest returns the SHA-256 of the data as 64 hexadecimal digits: the name of a blob.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A snapshotHeader is the first line of a snapshot; the state of the book follows.
type snapshotHeader struct {
	Version int    `json:"v"`
	Plan    uint64 `json:"plan"`   // number of the last plan in it
	Upto    uint64 `json:"upto"`   // of that plan
	Bytes   int    `json:"bytes"`  // of the state
	Digest  string `json:"digest"` // of the state
}

// Seal returns a snapshot of the state after a plan: a line with its number, its Upto and the digest of the state, then the state, which is JSON.
func Seal(plan, upto uint64, state []byte) ([]byte, error) {
	line, err := Encode(&snapshotHeader{Version: Version, Plan: plan, Upto: upto, Bytes: len(state), Digest: Digest(state)})
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), state...), nil
}

// Unseal returns what [Seal] was given. The error is an *[num.InputError] if the snapshot is not whole, or was changed.
func Unseal(snapshot []byte) (plan, upto uint64, state []byte, err error) {
	line, state, _ := bytes.Cut(snapshot, []byte{'\n'})
	h, err := Decode[snapshotHeader](line)
	switch {
	case err != nil:
		return 0, 0, nil, err
	case len(state) != h.Bytes:
		return 0, 0, nil, input.Errorf("bytes", len(state), "%d, as the header says", h.Bytes)
	case Digest(state) != h.Digest:
		return 0, 0, nil, input.Errorf("digest", Digest(state), "%s, as the header says", h.Digest)
	case !json.Valid(state):
		return 0, 0, nil, input.Errorf("", "no JSON", "a state in JSON")
	}
	return h.Plan, h.Upto, state, nil
}
