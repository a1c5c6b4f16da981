package render

import "fmt"

// Counted returns a number of things: "1 host", "2 hosts".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
