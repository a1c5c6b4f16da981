package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/num"
)

// trust describes the errors of the numbers in one line of text.
func trust(engine num.Engine, bound float64) string {
	trust, shown := command.Trust(engine, bound)
	return fmt.Sprintf("stable; %s engine, computed %s, shown %s", engine, trust, shown)
}

// text writes what overloads a model.
func (u *unstable) text(t *render.Text) {
	classes, work := strings.Join(u.Bottleneck, ", "), render.SixRat(u.BottleneckWork)
	capacity := render.SixBeside(u.BottleneckCapacity, u.BottleneckWork)
	if u.critical == nil {
		t.Line("unstable: nothing limits the jobs of %s", classes)
		t.Line("work %s per unit of time on capacity %s", work, capacity)
		return
	}
	t.Line("unstable: would be stable with the arrival rates multiplied by anything below %s",
		render.SixBeside(u.Scale, big.NewRat(1, 1)))
	t.Line("bottleneck: station %s, classes %s: work %s per unit of time on capacity %s",
		u.Station, classes, work, capacity)
}

// timeSections are the tables of waiting times and delays.
func timeSections(asked []command.Percentile) []render.Section {
	waiting := render.Section{Of: "visits", Columns: "station class wait_probability mean_waiting", Rows: flatRows}
	delay := render.Section{Of: "visits", Columns: "station class", Rows: flatRows}
	for _, p := range asked {
		waiting.Columns += " waiting_" + p.Name
		delay.Columns += " delay_" + p.Name
	}
	if asked == nil {
		return []render.Section{waiting}
	}
	return []render.Section{waiting, delay}
}

// responseSection is the table of response times of chains.
func responseSection(asked []command.Percentile) render.Section {
	s := render.Section{Of: "chains", Columns: "classes", Rows: flatRows}
	for _, p := range asked {
		s.Columns += " response_time_" + p.Name
	}
	return s
}

// flatRows returns records without nested fields.
func flatRows(rows []render.Record) (flat []render.Record) {
	for _, r := range rows {
		flat = append(flat, r.Flat())
	}
	return flat
}

// spans returns bounds for text: with six digits, without fractions.
func spans(rows []render.Record) (all []render.Record) {
	six := func(v any) any {
		n, ok := v.(render.Number)
		if !ok {
			return nil
		}
		return render.Six(n.Float)
	}
	for _, r := range rows {
		r = slices.Clone(r)
		for _, key := range []string{"throughput", "mean_delay"} {
			of := r.Get(key).(render.Record)
			r.Set(key, fmt.Sprintf("%s to %s", six(of.Get("low")), six(of.Get("high"))), "")
		}
		all = append(all, r.Set("throughput_limit", six(r.Get("throughput_limit")), ""))
	}
	return all
}

func (s *simulated) text(t *render.Text) {
	t.Blank()
	t.Line("%s; sizes %s", s.found.Method, s.sizes)
	t.Line("%s, observed for a time of %s after a warm-up of %s; seed %d; ± at confidence %v",
		render.Counted(s.found.Runs, "run"), render.Six(s.found.Time), render.Six(s.found.WarmUp),
		s.flags.simulation.Seed, s.flags.simulation.Confidence)
	s.comparisons.Joint().Text(t)
	t.Line("")
	for _, one := range s.tables {
		if len(one.rows) == 0 {
			continue
		}
		var columns []string
		for _, f := range one.rows[0] {
			if f.Key != "delay" && f.Key != "response_time" {
				columns = append(columns, f.Key)
			}
		}
		for some := range slices.Chunk(columns[1:], 3) {
			t.Table(one.rows, append(columns[:1:1], some...)...)
		}
		command.QuantileTables(t, one.rows, "delay")
		command.QuantileTables(t, one.rows, "response_time")
	}
}
