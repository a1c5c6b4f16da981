package num

// An Engine is an arithmetic. The engines share no arithmetic, so errors show as disagreement.
type Engine string

// The engines. The zero value of Engine means Auto.
const (
	Auto    Engine = "auto"    // Float, or another engine if the bound of Float exceeds the tolerance
	Float   Engine = "float"   // float64 with a proved bound on the relative error
	Enclose Engine = "enclose" // big.Float lower and upper bounds, precision doubled until the tolerance is met
	Exact   Engine = "exact"   // rationals
)
