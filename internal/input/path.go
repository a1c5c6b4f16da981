package input

import (
	"strconv"
	"strings"
)

// Index returns the path of an element of a list: "classes[3]".
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Inside adds the path of the enclosing value before that of an entry, if the error is an [*Error].
// An error about the whole entry gets only the path of the enclosing value.
func Inside(path string, err error) error {
	bad, ok := err.(*Error)
	if !ok {
		return err
	}
	inner := *bad
	inner.Path = strings.TrimSuffix(path+"."+bad.Path, ".")
	return &inner
}

// isPlain reports whether a key is a word of at most 40 English letters, digits and underscores
// that does not begin with a digit.
func isPlain(key string) bool {
	for i := range len(key) {
		c := key[i] | 0x20 // a letter in lower case
		if !(c >= 'a' && c <= 'z' || key[i] == '_' || i > 0 && key[i] >= '0' && key[i] <= '9') {
			return false
		}
	}
	return len(key) > 0 && len(key) <= 40
}

// Field returns the path of a field: "classes[3].name"; a key that is not a plain word is shortened
// and put in brackets and quotes.
func Field(path, key string) string {
	switch {
	case !isPlain(key):
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
