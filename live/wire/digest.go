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

// A snapshotHeader is the first line of a snapshot. The state of the book follows it.
type snapshotHeader struct {
	Version int    `json:"v"`
	Plan    uint64 `json:"plan"`   // number of the last plan included
	Upto    uint64 `json:"upto"`   // Upto of the last plan included
	Bytes   int    `json:"bytes"`  // size of the state
	Digest  string `json:"digest"` // SHA-256 of the state
}

// Seal returns a snapshot of the state after a plan. Its first line holds the plan number, the
// plan's Upto, and the size and digest of the state; the state, which is JSON, follows.
func Seal(plan, upto uint64, state []byte) ([]byte, error) {
	line, err := Encode(&snapshotHeader{
		Version: Version,
		Plan:    plan,
		Upto:    upto,
		Bytes:   len(state),
		Digest:  Digest(state),
	})
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), state...), nil
}

// Unseal returns the arguments of [Seal]. The error is an *[num.InputError] if the snapshot is
// truncated or was changed.
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
