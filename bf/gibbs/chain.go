package gibbs

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
)

// A chain sweeps all parts of a model and sums its measurements.
type chain struct {
	samplers []*sampler
	meter    *meter
	tally    *tally
	every    int // sweeps from one measurement of the distributions to the next; 0 measures none
	swept    int // sweeps since the tally was emptied
}

// newChain returns chain number k of a seed. Chains start at different orders of each part, as long
// as there are enough.
func newChain(p *problem, c columns, s Settings, k int) *chain {
	var key [32]byte
	copy(key[:], "pfq gibbs 2")
	binary.LittleEndian.PutUint64(key[16:], s.Seed)
	binary.LittleEndian.PutUint64(key[24:], uint64(k))
	random := rand.New(rand.NewChaCha8(key))
	h := &chain{meter: newMeter(p, c, s), tally: newTally(c.count, c.watched, 1)}
	for _, a := range p.parts {
		h.samplers = append(h.samplers, newSampler(a, a.startOrders[k%len(a.startOrders)], random))
	}
	return h
}

// measureFrom discards all measurements. From then on, distributions are measured once in every
// sweeps; 0 means never.
func (h *chain) measureFrom(every int) {
	h.every, h.swept = every, 0
	h.tally.reset(max(every, 1))
}

// run does n sweeps, and calls swept after each.
func (h *chain) run(ctx context.Context, n int, swept func()) error {
	for range n {
		for _, s := range h.samplers {
			if err := s.sweep(ctx); err != nil {
				return err
			}
		}
		h.meter.measure(h.samplers)
		h.tally.add(h.meter.values[:h.meter.all], 0)
		h.swept++
		if h.every > 0 && h.swept%h.every == 0 {
			if err := h.meter.measureLaws(ctx, h.samplers); err != nil {
				return err
			}
			laws := h.meter.values[h.meter.all:]
			scale(laws, float64(h.every))
			h.tally.add(laws, h.meter.all)
		}
		h.tally.next()
		swept()
	}
	return nil
}
