package swf_test

import (
	"strings"
	"testing"

	"productform/dispatch/swf"
)

func TestMaxProcs(t *testing.T) {
	for line, want := range map[string]int64{
		"; MaxProcs: 400": 400, ";MaxProcs:128": 128, " ;  MaxProcs : 100\t": 100,
		"; MaxProcs: 1152 (in two partitions)": 1152,

		"; MaxProcs: ": 0, "; MaxProcs: many": 0, "; MaxProcs: 0": 0, "; MaxProcs: -1": 0, "; MaxProcs: 1e3": 0,
		"; MaxProcs: 99999999999999999999": 0,
	} {
		got, ok := swf.MaxProcs([]string{
			"; Version: 2.2", "; MaxNodes: 3", "; Note: MaxProcs: 4", "", line, "; MaxProcs: 7",
		})
		if ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %v, %v, want %v", line, got, ok, want)
		}
	}
	if n, ok := swf.MaxProcs([]string{"; MaxNodes: 3"}); ok {
		t.Errorf("%v without MaxProcs", n)
	}
	log, err := swf.ReadAll(strings.NewReader(sdsc(t)), "SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := swf.MaxProcs(log.Header); n != 400 || !ok {
		t.Errorf("SDSC-Par-1996: %v, %v", n, ok)
	}
}
