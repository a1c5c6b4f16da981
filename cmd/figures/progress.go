package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// A progress tells how far the work is: a bar on a terminal, elsewhere one line every few seconds.
type progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	n, total int
	last     time.Time // of the last line, or the start
}

const lineEvery = 5 * time.Second

func newProgress(w io.Writer, total int) *progress {
	p := &progress{w: w, total: total, last: time.Now()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// step counts one piece of work, just ended.
func (p *progress) step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	if p.terminal {
		const width = 30
		filled := min(width, p.n*width/p.total)
		fmt.Fprintf(p.w, "\r\x1b[K[%s%s] %d/%d %s", strings.Repeat("=", filled), strings.Repeat(" ", width-filled), p.n, p.total, what)
		return
	}
	if now := time.Now(); now.Sub(p.last) >= lineEvery {
		fmt.Fprintf(p.w, "figures: %d of %d done\n", p.n, p.total)
		p.last = now
	}
}

// done takes the bar away. It may be called again.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.n > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.n = 0
	}
}
