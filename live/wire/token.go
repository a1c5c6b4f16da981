package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// A Token is the content of [Order.Token], signed by the manager: the attempt, and the plan that
// started it. A worker repeats the token in its report. Only the key of the cluster can sign one,
// so a token of a plan that is not in the log proves that the log has lost plans.
type Token struct {
	Term    string // term of the manager that made the plan
	Plan    uint64 // number of the plan
	Job     string // as in the order
	Task    int    // as in the order
	Attempt int    // as in the order
	Worker  string // as in the order
}

const (
	termBytes  = 8
	planBytes  = 8
	tokenBytes = termBytes + planBytes + 16
)

// NewTerm returns the ID of a term made of random bytes.
func NewTerm(random [termBytes]byte) string { return base64.RawURLEncoding.EncodeToString(random[:]) }

// Sign returns the text of the token. The term must be from [NewTerm].
func (t *Token) Sign(key []byte) string {
	term, err := base64.RawURLEncoding.DecodeString(t.Term)
	if err != nil || len(term) != termBytes {
		panic("wire: the term is not from NewTerm")
	}
	head := binary.BigEndian.AppendUint64(term, t.Plan)
	return base64.RawURLEncoding.EncodeToString(append(head, t.sum(key, head)...))
}

// sum returns the code that authenticates the token; head is its encoded term and plan.
func (t *Token) sum(key, head []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(head)
	fmt.Fprintf(mac, "%s.%d.%d.%s", t.Job, t.Task, t.Attempt, t.Worker) // names have no dots
	return mac.Sum(nil)[:tokenBytes-termBytes-planBytes]
}

// Verify sets Term and Plan from the text of the token, and reports whether the key signed it for
// the other fields.
func (t *Token) Verify(key []byte, text string) bool {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(data) != tokenBytes || len(key) == 0 {
		return false
	}
	head := data[:termBytes+planBytes]
	t.Term, t.Plan = base64.RawURLEncoding.EncodeToString(head[:termBytes]), binary.BigEndian.Uint64(head[termBytes:])
	return hmac.Equal(t.sum(key, head), data[len(head):])
}
