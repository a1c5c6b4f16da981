package num

// The defaults of the fields RelTol and MaxBytes of all Settings.
const (
	DefaultRelTol   = 1e-9     // relative tolerance of an answer
	DefaultMaxBytes = 16 << 30 // memory for tables: 16 GiB
)
