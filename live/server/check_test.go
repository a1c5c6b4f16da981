package server

import "testing"

func TestIsNew(t *testing.T) {
	for version, want := range map[string]bool{
		"2.14.0": true, "2.15.2": true, "2.14.0-beta.1": true, "3.0.0": true, "2.13.9": false, "1.99.0": false,
		"": false, "2": false, "dev": false, "2.x.0": false,
	} {
		if isNew(version) != want {
			t.Error(version)
		}
	}
}
