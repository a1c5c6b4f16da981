package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
)

// NotIgnored returns the signals that this process does not ignore: nohup starts programs that
// ignore SIGHUP, and shells start background programs that ignore SIGINT.
func NotIgnored(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(signals), signal.Ignored)
}

// UntilSignal returns a context that is cancelled at the first of the signals. The second one
// terminates the program. A signal that the process ignores stays ignored.
func UntilSignal(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	signals = NotIgnored(signals...)
	if len(signals) == 0 { // signal.NotifyContext treats an empty list as all signals
		return context.WithCancel(ctx)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
