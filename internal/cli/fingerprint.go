package cli

import (
	"runtime"
	"runtime/debug"

	"productform/sweep"
)

// A Fingerprint identifies what digits depend on besides the command line and its files. Two
// processes with the same fingerprint give the same digits, and use the same keys for runs.
type Fingerprint struct {
	Version    string `json:"version"` // version of the program, as printed by --version
	Go         string `json:"go"`      // version of Go that built it
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Arithmetic string `json:"arithmetic"` // hash of values whose rounding depends on the processor
}

// FingerprintOf returns the fingerprint of this process.
func FingerprintOf() Fingerprint {
	f := Fingerprint{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Arithmetic: sweep.Arithmetic()}
	if info, ok := debug.ReadBuildInfo(); ok {
		f.Version = info.Main.Version
	}
	return f
}
