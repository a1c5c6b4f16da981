package eventqueue

// An Entry schedules an item. Entries are ordered by Time, then by Tie.
type Entry struct {
	Time, Tie float64
	Item      uint32
}

// A Schedule is a binary heap of entries, the earliest first. Entries may change. places[item] is
// the position of its entry in the heap; the methods keep it up to date. Several schedules may
// share the places of their items.
type Schedule []Entry

func earlier(a, b Entry) bool { return a.Time < b.Time || a.Time == b.Time && a.Tie < b.Tie }

// Push adds an entry.
func (s *Schedule) Push(e Entry, places []int32) {
	*s = append(*s, e)
	s.Up(len(*s)-1, places)
}

// Up moves the entry at place k, whose time may have decreased, to its correct place.
func (s Schedule) Up(k int, places []int32) {
	e := s[k]
	for k > 0 {
		parent := (k - 1) / 2
		if !earlier(e, s[parent]) {
			break
		}
		s[k] = s[parent]
		places[s[k].Item] = int32(k)
		k = parent
	}
	s[k] = e
	places[e.Item] = int32(k)
}

// Down moves the entry at place k, whose time may have increased, to its correct place.
func (s Schedule) Down(k int, places []int32) {
	e := s[k]
	for {
		child := 2*k + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && earlier(s[child+1], s[child]) {
			child++
		}
		if !earlier(s[child], e) {
			break
		}
		s[k] = s[child]
		places[s[k].Item] = int32(k)
		k = child
	}
	s[k] = e
	places[e.Item] = int32(k)
}

// Remove removes the entry at place k.
func (s *Schedule) Remove(k int, places []int32) {
	last := len(*s) - 1
	e := (*s)[last]
	*s = (*s)[:last]
	if k < last {
		(*s)[k] = e
		places[e.Item] = int32(k)
		s.Up(k, places)
		s.Down(int(places[e.Item]), places)
	}
}
