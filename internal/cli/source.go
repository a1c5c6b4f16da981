package cli

// Source returns the name of a file in errors; "-" is the standard input.
func Source(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
