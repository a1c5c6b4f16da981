package sweep

import "testing"

// PFQ returns the path of the program that the tests have built.
func PFQ() string { return pfq }

// Model writes the model of the tests to a file and returns its name.
func Model(t *testing.T) string { return write(t, "model.yaml", model) }

// Build builds a program and returns its path.
func Build(t *testing.T, name string) string {
	t.Helper()
	file, err := build(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
