package input

import (
	"fmt"
	"regexp"
	"strconv"
)

// Index returns the path of an element of a list: "classes[3]".
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,39}$`)

// Field returns the path of a field: "classes[3].name"; a key that is not a plain word stands in brackets and quotes,
// shortened.
func Field(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// Quote quotes a name for a message, cut at 40 characters.
func Quote(name string) string {
	if r := []rune(name); len(r) > 40 {
		name = string(r[:37]) + "..."
	}
	return strconv.Quote(name)
}
