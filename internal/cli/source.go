package cli

// Source returns the name that errors give to a file, or to the standard input, whose name is "-".
func Source(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
