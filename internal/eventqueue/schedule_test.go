package eventqueue_test

import (
	"testing"

	"pgregory.net/rapid"

	"productform/internal/eventqueue"
)

// The heap agrees with a scan of all items, with so few times that ties are common.
func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s eventqueue.Schedule
		at := make([]float64, rapid.IntRange(10, 40).Draw(t, "items")) // 0 if not scheduled
		places := make([]int32, len(at))
		tie := func(item int) float64 { return float64(item * 17 % 41) }
		for range 400 {
			j := rapid.IntRange(0, len(at)-1).Draw(t, "item")
			switch {
			case at[j] == 0:
				at[j] = float64(rapid.IntRange(1, 10).Draw(t, "at"))
				s.Push(eventqueue.Entry{at[j], tie(j), uint32(j)}, places)
			case rapid.Bool().Draw(t, "out"):
				at[j] = 0
				s.Remove(int(places[j]), places)
			case rapid.Bool().Draw(t, "earlier"):
				at[j] /= 2
				s[places[j]].Time = at[j]
				s.Up(int(places[j]), places)
			default:
				at[j]++
				s[places[j]].Time = at[j]
				s.Down(int(places[j]), places)
			}
			first, size := -1, 0
			for k, v := range at {
				if v == 0 {
					continue
				}
				size++
				if e := s[places[k]]; e != (eventqueue.Entry{v, tie(k), uint32(k)}) {
					t.Fatalf("item %d has %+v, not %v", k, e, v)
				}
				if first < 0 || v < at[first] || v == at[first] && tie(k) < tie(first) {
					first = k
				}
			}
			if len(s) != size || size > 0 && int(s[0].Item) != first {
				t.Fatalf("schedule %v of %d items, first %d", s, size, first)
			}
		}
	})
}
