package input_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"productform/internal/input"
)

// Texts that begin with two ASCII characters are accepted in UTF-8 and rejected in UTF-16 of either
// byte order, with or without a byte order mark.
func TestCheckEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~]{2}`).Draw(t, "start") + rapid.String().Draw(t, "rest")
		for _, mark := range []string{"", "\ufeff"} {
			if err := input.CheckEncoding([]byte(mark + text)); err != nil {
				t.Fatalf("%q: %v", mark+text, err)
			}
			for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
				var wide []byte
				for _, unit := range utf16.Encode([]rune(mark + text)) {
					wide = order.AppendUint16(wide, unit)
				}
				if err := input.CheckEncoding(wide); err == nil || !strings.Contains(err.Error(), "UTF-16") {
					t.Fatalf("%q in UTF-16: %v", mark+text, err)
				}
			}
		}
	})
	for _, text := range []string{
		"", "\x00", "a", "\x00\x00", "a\x00", ";\x00\n", "a\x00\x00\x00", ";\x00\x00\x00", "\xff",
	} {
		if err := input.CheckEncoding([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
