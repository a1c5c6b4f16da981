package rigid_test

import (
	"errors"
	"testing"

	"productform/dispatch/rigid"
	"productform/internal/input"
)

func TestParsePolicy(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       rigid.Policy
	}{
		{"fcfs", "fcfs", rigid.Policy{Order: rigid.FCFS, Backfill: rigid.None}},
		{"sjf", "sjf", rigid.Policy{Order: rigid.SJF, Backfill: rigid.None}},
		{"easy", "easy/fcfs", rigid.Policy{Order: rigid.FCFS, Backfill: rigid.EASY}},
		{"easy/fcfs", "easy/fcfs", rigid.Policy{Order: rigid.FCFS, Backfill: rigid.EASY}},
		{"easy/sjf", "easy/sjf", rigid.Policy{Order: rigid.SJF, Backfill: rigid.EASY}},
		{"conservative", "conservative", rigid.Policy{Order: rigid.FCFS, Backfill: rigid.Conservative}},
	} {
		got, err := rigid.ParsePolicy(c.text)
		again, errAgain := rigid.ParsePolicy(got.String())
		if err != nil || errAgain != nil || got != c.want || again != got || got.String() != c.name ||
			!rigid.Known(c.text) {
			t.Errorf("%s: %+v named %s, errors %v, %v, want %+v named %s",
				c.text, got, got, err, errAgain, c.want, c.name)
		}
	}
	const names = "one of fcfs, sjf, easy[/ORDER], conservative"
	for text, want := range map[string]string{
		"": names, "lifo": names, "fcf": names + "; did you mean fcfs?",
		"conservativ/fcfs": names + "; did you mean conservative?",
		"easy/edf":         "easy[/ORDER], ORDER fcfs or sjf",
		"easy/":            "easy[/ORDER], ORDER fcfs or sjf",
		"fcfs/sjf":         "fcfs",
		"sjf/":             "sjf",
		"conservative/sjf": "conservative",
	} {
		_, err := rigid.ParsePolicy(text)
		var e *input.Error
		if !errors.As(err, &e) || *e != (input.Error{Path: "policy", Value: text, Want: want}) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]bool{
		"easy:3":    true,
		"fcfs/kept": true,
		"edf":       false,
		"":          false,
		"easier":    false,
	} {
		if rigid.Known(text) != want {
			t.Errorf("%q: known %v", text, !want)
		}
	}
}
