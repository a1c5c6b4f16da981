package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Progress displays the progress of work: a bar on a terminal, otherwise at most one line every
// few seconds. It is safe for concurrent use.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer
	command  string
	terminal bool
	drawn    bool      // whether a bar is on the terminal
	last     time.Time // time of the last bar or line, or the start
}

const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

// NewProgress returns a Progress of a command, whose name begins its lines.
func NewProgress(w io.Writer, command string) *Progress {
	return &Progress{w: w, command: command, terminal: IsTerminal(w), last: time.Now()}
}

// Show reports that done pieces of work are finished out of total > 0, followed by a text such as
// "runs, 12s left".
func (p *Progress) Show(done, total int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch since := now.Sub(p.last); {
	case p.terminal && (since >= barEvery || !p.drawn):
		const width = 30
		filled := min(width, done*width/total)
		fmt.Fprintf(p.w, "\r\x1b[K[%s%s] %d/%d %s",
			strings.Repeat("=", filled), strings.Repeat(" ", width-filled), done, total, what)
		p.drawn = true
	case !p.terminal && since >= lineEvery:
		fmt.Fprintf(p.w, "%s: %d of %d %s\n", p.command, done, total, what)
	default:
		return
	}
	p.last = now
}

// Clear removes the bar. It may be called repeatedly.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
