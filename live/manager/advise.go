package manager

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"productform/live/wire"
)

// A policy service has adviceTime to answer. One that does not is left alone for adviceRest, so that one that hangs does not hold
// up every decision.
const (
	adviceTime = 200 * time.Millisecond
	adviceRest = time.Second
)

// An adviser asks the policy service.
type adviser struct {
	*manager
	rest time.Time // until when it is left alone
}

// asking returns what the book asks by, see [book.Settings].
func (a *adviser) asking(ctx context.Context) func(*wire.Question) (*wire.Answer, string) {
	return func(q *wire.Question) (*wire.Answer, string) {
		begun := a.settings.Now()
		if begun.Before(a.rest) {
			return nil, ""
		}
		answer, why, err := a.ask(ctx, q)
		now := a.settings.Now()
		a.times.advise.Observe(now.Sub(begun).Seconds())
		if why == wire.AdviceLate {
			a.rest = now.Add(adviceRest)
		}
		if err != nil && ctx.Err() == nil {
			a.settings.Log.Warn("the policy service does not decide", "service", a.settings.Service, "why", why, "error", err)
		}
		return answer, why
	}
}

func (a *adviser) ask(ctx context.Context, q *wire.Question) (answer *wire.Answer, why string, err error) {
	data, err := wire.Encode(q)
	if err != nil {
		return nil, wire.AdviceTooLarge, err
	}
	ctx, cancel := context.WithTimeout(ctx, adviceTime)
	defer cancel()
	m, err := a.nc.RequestWithContext(ctx, wire.PolicyService(a.settings.Service), data)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, wire.AdviceAbsent, err
	case err != nil:
		return nil, wire.AdviceLate, err
	}
	if said := m.Header.Get("Nats-Service-Error"); said != "" {
		return nil, wire.AdviceMalformed, errors.New(said)
	}
	if answer, err = wire.Decode[wire.Answer](m.Data); err != nil {
		return nil, wire.AdviceMalformed, err
	}
	return answer, "", nil
}
