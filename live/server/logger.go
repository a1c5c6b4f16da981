package server

import (
	"fmt"
	"log/slog"
	"sync"
)

// A logger forwards messages of the NATS server to slog, and keeps the reason of a failed start.
type logger struct {
	to *slog.Logger

	mu    sync.Mutex
	fatal string
}

// Fatal returns the first fatal message of the server.
func (l *logger) Fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

func (l *logger) Noticef(format string, v ...any) {}
func (l *logger) Debugf(format string, v ...any)  {}
func (l *logger) Tracef(format string, v ...any)  {}

func (l *logger) Warnf(format string, v ...any) {
	if l.to != nil {
		l.to.Warn("server", "says", fmt.Sprintf(format, v...))
	}
}

func (l *logger) Errorf(format string, v ...any) {
	if l.to != nil {
		l.to.Error("server", "says", fmt.Sprintf(format, v...))
	}
}

func (l *logger) Fatalf(format string, v ...any) {
	l.Errorf(format, v...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = fmt.Sprintf(format, v...)
	}
}
