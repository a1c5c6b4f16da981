package stations

import (
	"math"

	"productform/internal/eventqueue"
)

// A Calendar finds the station with the next departure.
type Calendar struct {
	stations []Station
	schedule eventqueue.Schedule // schedule of the next departures; ties go to the first station
	places   []int32             // index in the schedule, by station
}

// NewCalendar returns the calendar of at least one station, all of them empty.
func NewCalendar(list []Station) *Calendar {
	c := &Calendar{stations: list, places: make([]int32, len(list))}
	for i := range list {
		c.schedule.Push(eventqueue.Entry{Time: math.Inf(1), Tie: float64(i), Item: uint32(i)}, c.places)
	}
	return c
}

// Next returns the time of the next departure, or +Inf if there are no jobs.
func (c *Calendar) Next() float64 { return c.schedule[0].Time }

// Station returns station i.
func (c *Calendar) Station(i int) Station { return c.stations[i] }

// Arrive adds a job to station i; see [Station].
func (c *Calendar) Arrive(i int, now float64, job Job, work float64) error {
	if err := c.stations[i].Arrive(now, job, work); err != nil {
		return err
	}
	c.settle(i)
	return nil
}

// Depart removes the job that departs next, and returns its station.
func (c *Calendar) Depart() (station int, job Job, err error) {
	station = int(c.schedule[0].Item)
	if job, err = c.stations[station].Depart(); err != nil {
		return 0, Job{}, err
	}
	c.settle(station)
	return station, job, nil
}

// settle updates the position of a station in the schedule.
func (c *Calendar) settle(station int) {
	place := int(c.places[station])
	e := &c.schedule[place]
	time := c.stations[station].Next()
	later := time > e.Time
	e.Time = time
	if later {
		c.schedule.Down(place, c.places)
	} else {
		c.schedule.Up(place, c.places)
	}
}

// Shift makes t time 0.
func (c *Calendar) Shift(t float64) {
	for i := range c.stations {
		c.stations[i].Shift(t)
		c.schedule[i].Time -= t
	}
}
