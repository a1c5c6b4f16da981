package sweep

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"

	"productform/internal/input"
)

// keyDigits is the number of hex digits of a key.
const keyDigits = 2 * sha256.Size

// Key returns the SHA-256, in hex, of all parts written as JSON (maps sorted by key, structs in the
// order of their fields), each preceded by its length in 8 bytes. So no two lists of different
// parts have the same key, except for collisions of SHA-256: ("ab", "c") and ("a", "bc") differ,
// and so do ("a") and ("a", nil). Parts with the same JSON are equal: 1 and 1.0, a value and a
// pointer to it, two structs that differ in a field tagged "-".
//
// The parts of a task's key are all that its result depends on: the model, the settings, the seed,
// the number of the replication, and a version of the code that computes it.
//
// The error names a part that JSON cannot represent completely: NaN, an infinity, a function, text
// that is not UTF-8, or a struct with unexported fields, which JSON ignores, so different values
// would have the same key. A type with its own encoding (MarshalJSON, MarshalText) is trusted.
func Key(parts ...any) (string, error) {
	h := sha256.New()
	for i, part := range parts {
		text, err := json.Marshal(part)
		if err == nil {
			err = checkSeen(reflect.ValueOf(part))
		}
		if err != nil {
			return "", input.Errorf(fmt.Sprintf("parts[%d]", i),
				fmt.Sprintf("a %T", part), "a value that JSON can represent (%v)",
				err)
		}
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// writesItself reports whether encoding/json encodes v by a method. As in that package, a pointer
// method counts only if v is addressable.
func writesItself(v reflect.Value) bool {
	t := v.Type()
	if v.CanAddr() {
		t = reflect.PointerTo(t)
	}
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler)
}

// checkSeen returns an error if v contains data that its JSON loses. encoding/json has accepted v,
// so it is not cyclic.
func checkSeen(v reflect.Value) error {
	if !v.IsValid() || writesItself(v) {
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("%q is not UTF-8", v.String())
		}
	case reflect.Pointer, reflect.Interface:
		return checkSeen(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkSeen(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if err := checkSeen(entry.Key()); err != nil {
				return err
			}
			if err := checkSeen(entry.Value()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if f.Tag.Get("json") == "-" {
				continue
			}
			if !f.IsExported() && !isEmbeddedStruct(f) {
				return fmt.Errorf("%v.%s is not exported", v.Type(), f.Name)
			}
			if err := checkSeen(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// isEmbeddedStruct reports whether f is an embedded struct or a pointer to one, whose exported
// fields are part of the JSON even if the name of its type is not exported.
func isEmbeddedStruct(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct
}

// isHex reports whether text consists of n lower-case hex digits.
func isHex(text string, n int) bool {
	for _, c := range []byte(text) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return len(text) == n
}
