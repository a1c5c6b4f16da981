package worker_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"productform/live/wire"
	"productform/num"
)

func putBlob(t testing.TB, m *fakeManager, content []byte) string {
	t.Helper()
	digest, _, err := wire.PutContent(t.Context(), m.js, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func blobOf(t testing.TB, m *fakeManager, digest string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := wire.GetContent(t.Context(), m.js, digest, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// pathOf returns the field that an error is about.
func pathOf(err error) string {
	var bad *num.InputError
	if errors.As(err, &bad) {
		return bad.Path
	}
	return ""
}
