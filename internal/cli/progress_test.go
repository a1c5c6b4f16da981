package cli

import (
	"bytes"
	"testing"
	"time"
)

// Without a terminal, a line is written only if a few seconds have passed since the last.
func TestProgressLines(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, "prog")
	for done, passed := range []time.Duration{-time.Hour, lineEvery, -time.Hour, -time.Hour, time.Hour} {
		p.last = time.Now().Add(-passed) // a negative time makes the test independent of the speed of the machine
		p.Show(done, 4, "runs")
	}
	p.Clear()
	if want := "prog: 1 of 4 runs\nprog: 4 of 4 runs\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// On a terminal there is one bar, redrawn in place, and nothing after Clear.
func TestProgressBar(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, "prog")
	p.terminal = true
	p.Clear()
	for done, passed := range []time.Duration{-time.Hour, -time.Hour, barEvery} {
		p.last = time.Now().Add(-passed)
		p.Show(done, 2, "runs")
	}
	p.Clear()
	p.Clear()
	const clear, empty, full = "\r\x1b[K", "[                              ] 0/2 runs",
		"[==============================] 2/2 runs"
	if want := clear + empty + clear + full + clear; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
