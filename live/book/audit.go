package book

import (
	"fmt"

	"productform/dispatch"
	"productform/live/wire"
)

// Verify decides a plan again, compares the decisions, and folds the plan like [Book.Fold]. The
// error is a [*Difference] if the decision in the log differs because it was made by another policy
// or another program.
func (b *Book) Verify(p *wire.Plan) error {
	return b.fold(p, func(what []dispatch.Happening) error {
		events, err := b.maker.Decide(p.At, what)
		if err != nil {
			return err
		}
		for i := range max(len(events), len(p.Events)) {
			if i >= len(events) || i >= len(p.Events) || events[i] != p.Events[i] {
				return &Difference{
					Plan:   p.Number,
					Event:  i,
					Logged: p.Events[min(i, len(p.Events)):],
					Again:  events[min(i, len(events)):],
				}
			}
		}
		return nil
	})
}

// A Difference reports that a plan, decided again, differs from the log.
type Difference struct {
	Plan          uint64 // number of the plan
	Event         int    // index of the first different event
	Logged, Again []dispatch.Event
}

func (d *Difference) Error() string {
	first := func(events []dispatch.Event) string {
		if len(events) == 0 {
			return "nothing more"
		}
		return fmt.Sprintf("%+v", events[0])
	}
	return fmt.Sprintf("plan %d, decided again: event %d is %s, the log has %s",
		d.Plan, d.Event, first(d.Again), first(d.Logged))
}
