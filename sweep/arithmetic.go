// This file distinguishes processors by how they round, so results of different arithmetic are not
// mixed.

package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"sync"
)

// Arithmetic returns a hash of about a thousand values whose rounding may depend on the processor:
// with fused multiply-add, compilers round x*y + z once instead of twice, and math.Exp uses it. It
// is computed once, in less than a millisecond.
func Arithmetic() string { return arithmetic() }

var arithmetic = sync.OnceValue(func() string {
	h := sha256.New()
	for i := range 500 {
		x := math.Mod(float64(i+1)*math.Phi, 1) * float64(i%40+1) // in (0, 40)
		y := x / 3
		for _, v := range []float64{
			math.Exp(x), math.Exp(-y), math.Expm1(y), math.Log(x), math.Log1p(x), math.Pow(x, y), math.Sqrt(x),
			math.Cbrt(x), math.Hypot(x, y), math.Gamma(x), math.Erf(y), math.Sin(x), math.Atan(x), x*y + x, x*x - y*y,
		} {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
})
