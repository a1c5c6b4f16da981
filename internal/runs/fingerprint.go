package runs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"runtime"
	"runtime/debug"
)

// A Fingerprint is what digits depend on beside the command line and its files. Two processes with one fingerprint give
// the same digits.
type Fingerprint struct {
	Version    string `json:"version"` // of the program, as --version says it
	Go         string `json:"go"`      // that built it
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Arithmetic string `json:"arithmetic"` // hash of some thousand values of elementary functions, which differ between processors
}

// FingerprintOf returns the fingerprint of this process. It takes a millisecond.
func FingerprintOf() Fingerprint {
	f := Fingerprint{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Arithmetic: arithmetic()}
	if info, ok := debug.ReadBuildInfo(); ok {
		f.Version = info.Main.Version
	}
	return f
}

// arithmetic returns a hash of values that a processor may round in its own way: where it has fused multiply-add, x*y + z may
// be rounded once instead of twice, and math.Exp is.
func arithmetic() string {
	h := sha256.New()
	for i := range 500 {
		x := math.Mod(float64(i+1)*math.Phi, 1) * float64(i%40+1) // in (0, 40)
		y := x / 3
		for _, v := range []float64{math.Exp(x), math.Exp(-y), math.Expm1(y), math.Log(x), math.Log1p(x), math.Pow(x, y), math.Sqrt(x), math.Cbrt(x),
			math.Hypot(x, y), math.Gamma(x), math.Erf(y), math.Sin(x), math.Atan(x), x*y + x, x*x - y*y} {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
