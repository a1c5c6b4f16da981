package book_test

import (
	"errors"
	"testing"

	"productform/internal/input"
	"productform/live/book"
	"productform/live/wire"
)

// A snapshot whose state contradicts its header, or has no maker or two of them, is rejected with
// an error that names the field.
func TestRestoreChecksSnapshot(t *testing.T) {
	for state, field := range map[string]string{
		`{}`:               "n",
		`{"n":2,"upto":5}`: "n",
		`{"n":1,"upto":4}`: "upto",
		`{"n":1,"upto":5}`: "maker",
		`{"n":1,"upto":5,"maker":{},"together":{}}`: "together",
	} {
		sealed, err := wire.Seal(1, 5, []byte(state))
		if err != nil {
			t.Fatal(err)
		}
		var bad *input.Error
		if _, err := book.Restore(settings(byDeadline, 1, false), sealed); !errors.As(err, &bad) || bad.Path != field {
			t.Errorf("%s: error %v, want one about %s", state, err, field)
		}
	}
}
