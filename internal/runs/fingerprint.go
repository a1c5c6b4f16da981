package runs

import (
	"runtime"
	"runtime/debug"

	"productform/internal/processor"
)

// A Fingerprint is what digits depend on beside the command line and its files. Two processes with one fingerprint give
// the same digits, and know runs by the same keys.
type Fingerprint struct {
	Version    string `json:"version"` // of the program, as --version says it
	Go         string `json:"go"`      // that built it
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Arithmetic string `json:"arithmetic"` // hash of values that processors round in their own ways
}

// FingerprintOf returns the fingerprint of this process.
func FingerprintOf() Fingerprint {
	f := Fingerprint{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Arithmetic: processor.Arithmetic()}
	if info, ok := debug.ReadBuildInfo(); ok {
		f.Version = info.Main.Version
	}
	return f
}
