package joblog

import (
	"math"
	"time"
)

// A Dialect describes what a [Reader] cannot find in a log by itself. The zero value guesses the
// columns and reads dates without a zone as UTC.
type Dialect struct {
	Columns map[string]string // name of the column of a field, of [Fields]; others are guessed
	Zone    *time.Location    // zone of dates that have none; nil for UTC
}

// A wallClock converts the times that clocks of a zone show.
type wallClock struct {
	zone        *time.Location // nil for UTC
	first, last int64          // range of shown times, in seconds, in which the clock is ahead of UTC by offset
	offset      int64          // in seconds
}

// newWallClock returns the clock of a zone, with an empty range of sure times.
func newWallClock(zone *time.Location) wallClock { return wallClock{zone: zone, first: 1} }

// daySeconds is more than the change of any clock.
const daySeconds = 86400

// settle converts a time that the clock shows, read as UTC, to UTC. It returns a reason if the
// clock skips the time or shows it twice.
func (c *wallClock) settle(m *moment) Reason {
	if c.zone == nil {
		return 0
	}
	if m.seconds < c.first || m.seconds > c.last {
		before, after := c.ahead(m.seconds-daySeconds), c.ahead(m.seconds+daySeconds)
		isBefore, isAfter := c.ahead(m.seconds-before) == before, c.ahead(m.seconds-after) == after
		switch {
		case isBefore && isAfter && before != after:
			return RepeatedTime
		case isBefore:
			c.offset = before
		case isAfter:
			c.offset = after
		default:
			return SkippedTime
		}
		c.setRange(m.seconds)
	}
	m.seconds -= c.offset
	m.value = float64(m.seconds) + m.fraction
	return 0
}

// ahead returns by how many seconds the clock is ahead of UTC at the given time.
func (c *wallClock) ahead(seconds int64) int64 {
	_, offset := time.Unix(seconds, 0).In(c.zone).Zone()
	return int64(offset)
}

// setRange sets the times around a shown time that are a day away from the next changes.
func (c *wallClock) setRange(shown int64) {
	start, end := time.Unix(shown-c.offset, 0).In(c.zone).ZoneBounds()
	c.first, c.last = math.MinInt64, math.MaxInt64
	if !start.IsZero() {
		c.first = start.Unix() + c.offset + daySeconds
	}
	if !end.IsZero() {
		c.last = end.Unix() + c.offset - daySeconds
	}
}
