package main

import (
	"fmt"
	"reflect"
	"slices"
)

// A Difference is the first difference between two logs.
type Difference struct {
	Moment    int    // index of the moment, -1 if only the results differ
	Got, Want string // the two values
}

func (d *Difference) Error() string {
	if d.Moment < 0 {
		return fmt.Sprintf("results differ: %s, want %s", d.Got, d.Want)
	}
	return fmt.Sprintf("moment %d differs: %s, want %s", d.Moment, d.Got, d.Want)
}

// Compare returns the first difference between two logs, or nil if they agree to the last digit.
func Compare(got, want *Log) error {
	show := func(l *Log, k int) string {
		if k >= len(l.Moments) {
			return "none"
		}
		return fmt.Sprintf("%v", l.Moments[k])
	}
	for k := range max(len(got.Moments), len(want.Moments)) {
		if k >= len(got.Moments) || k >= len(want.Moments) || got.Moments[k].At != want.Moments[k].At ||
			!slices.Equal(got.Moments[k].Events, want.Moments[k].Events) {
			return &Difference{k, show(got, k), show(want, k)}
		}
	}
	switch {
	case !reflect.DeepEqual(got.Result, want.Result):
		return &Difference{-1, fmt.Sprintf("%+v", got.Result), fmt.Sprintf("%+v", want.Result)}
	case !reflect.DeepEqual(got.Rigid, want.Rigid):
		return &Difference{-1, fmt.Sprintf("%+v", got.Rigid), fmt.Sprintf("%+v", want.Rigid)}
	}
	return nil
}
