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

// A SnapshotHeader is the first line of a snapshot; the state of the book follows.
type SnapshotHeader struct {
	Version int    `json:"v"`
	Plan    uint64 `json:"plan"`   // number of the last plan in it
	Upto    uint64 `json:"upto"`   // of that plan
	Bytes   int    `json:"bytes"`  // of the state
	Digest  string `json:"digest"` // of the state
}

// Seal returns a snapshot: header and state.
func Seal(plan, upto uint64, state []byte) ([]byte, error) {
	line, err := Encode(&SnapshotHeader{Version: Version, Plan: plan, Upto: upto, Bytes: len(state), Digest: Digest(state)})
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), state...), nil
}

// Unseal returns header and state of a snapshot, which it holds against each other.
func Unseal(snapshot []byte) (*SnapshotHeader, []byte, error) {
	line, state, _ := bytes.Cut(snapshot, []byte{'\n'})
	h, err := decode[SnapshotHeader](line)
	switch {
	case err != nil:
		return nil, nil, err
	case len(state) != h.Bytes:
		return nil, nil, input.Errorf("bytes", len(state), "%d, as the header says", h.Bytes)
	case Digest(state) != h.Digest:
		return nil, nil, input.Errorf("digest", Digest(state), "%s, as the header says", h.Digest)
	case !json.Valid(state):
		return nil, nil, input.Errorf("", "no JSON", "a state in JSON")
	}
	return h, state, nil
}
