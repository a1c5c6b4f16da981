package file_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"productform/internal/file"
	"productform/internal/input"
)

// A city has zones, and tours that visit some of them. Each tour has halts, which its trips name.
type city struct {
	Zones []zone
	Tours []tour
}

type zone struct {
	Name string
	Fare *big.Rat
}

type tour struct {
	Name  string
	Buses int
	Zones []int
	Next  [][2]int // pairs of zones
	Halts []halt
	Trips []trip
}

type halt struct{ Name string }

type trip struct {
	Halts []int
	Hours *big.Rat
}

var cityFile = file.Description[city]{Want: "an object with zones", Fields: []file.Field[city]{
	file.Objects("zones", "", "an array of zones", func(c *city) *[]zone { return &c.Zones },
		&file.Description[zone]{Want: "an object with name and fare", Fields: []file.Field[zone]{
			file.Name("", func(z *zone) *string { return &z.Name }),
			file.Rat("fare", "", func(z *zone) **big.Rat { return &z.Fare }, input.Nonnegative),
		}}, file.Length{Least: 1, One: "zone", Many: "zones"}, func(z *zone) string { return z.Name }),
	file.Objects("tours", "", "an array of tours", func(c *city) *[]tour { return &c.Tours }, &tourFile,
		file.Length{}, func(t *tour) string { return t.Name }),
}}

var tourFile = file.Description[tour]{Want: "an object with name", Start: tour{Buses: 1}, Fields: []file.Field[tour]{
	file.Name("", func(t *tour) *string { return &t.Name }),
	file.Int("buses", "", func(t *tour) *int { return &t.Buses }, 100, "").Default(1),
	file.Refs("zones", "", "tour", func(t *tour) *[]int { return &t.Zones }, "zones",
		file.Length{One: "zone", Many: "zones"}).Optional(),
	file.Pairs("next", "", func(t *tour) *[][2]int { return &t.Next }, "zones", "zone").Optional(),
	file.Objects("halts", "", "an array of halts", func(t *tour) *[]halt { return &t.Halts },
		&file.Description[halt]{Want: "an object with name", Fields: []file.Field[halt]{
			file.Name("", func(h *halt) *string { return &h.Name }),
		}}, file.Length{}, func(h *halt) string { return h.Name }),
	file.Objects("trips", "", "an array of trips", func(t *tour) *[]trip { return &t.Trips },
		&file.Description[trip]{Want: "an object with halts", Fields: []file.Field[trip]{
			file.Refs("halts", "", "", func(t *trip) *[]int { return &t.Halts }, "halts",
				file.Length{One: "halt", Many: "halts"}),
			file.Rat("hours", "", func(t *trip) **big.Rat { return &t.Hours }, input.Positive).Optional(),
		}}, file.Length{}, nil).Optional(),
}}

func drawCity(t *rapid.T) *city {
	upTo := func(n int, name string) int { return rapid.IntRange(0, n).Draw(t, name) }
	rat := func(least int64, name string) *big.Rat {
		return big.NewRat(rapid.Int64Range(least, 99).Draw(t, name), rapid.Int64Range(1, 9).Draw(t, name))
	}
	name := func(i int) string { return rapid.StringMatching(`[^\pC]{0,2}`).Draw(t, "name") + fmt.Sprint(i) }
	rows := func(n int) *rapid.Generator[int] { return rapid.IntRange(0, n-1) }
	c := new(city)
	for i := range 1 + upTo(3, "zones") {
		c.Zones = append(c.Zones, zone{name(i), rat(0, "fare")})
	}
	for i := range upTo(3, "tours") {
		r := tour{Name: name(i), Buses: 1 + upTo(99, "buses")}
		r.Zones = rapid.SliceOfNDistinct(rows(len(c.Zones)), 0, len(c.Zones), rapid.ID[int]).Draw(t, "zones")
		for range upTo(2, "pairs") {
			zone := rows(len(c.Zones))
			r.Next = append(r.Next, [2]int{zone.Draw(t, "from"), zone.Draw(t, "to")})
		}
		for k := range 1 + upTo(2, "halts") {
			r.Halts = append(r.Halts, halt{name(k)})
		}
		for range upTo(2, "trips") {
			x := trip{Halts: rapid.SliceOfN(rows(len(r.Halts)), 0, 3).Draw(t, "halts")}
			if rapid.Bool().Draw(t, "timed") {
				x.Hours = rat(1, "hours")
			}
			r.Trips = append(r.Trips, x)
		}
		c.Tours = append(c.Tours, r)
	}
	return c
}

// written returns the city as it appears in a file.
func written(c *city) map[string]any {
	zones, tours := []any{}, []any{}
	for _, z := range c.Zones {
		zones = append(zones, map[string]any{"name": z.Name, "fare": z.Fare.RatString()})
	}
	for _, r := range c.Tours {
		visits, next, halts, trips := []any{}, []any{}, []any{}, []any{}
		for _, z := range r.Zones {
			visits = append(visits, c.Zones[z].Name)
		}
		for _, p := range r.Next {
			next = append(next, []any{c.Zones[p[0]].Name, c.Zones[p[1]].Name})
		}
		for _, h := range r.Halts {
			halts = append(halts, map[string]any{"name": h.Name})
		}
		for _, x := range r.Trips {
			names := []any{}
			for _, h := range x.Halts {
				names = append(names, r.Halts[h].Name)
			}
			one := map[string]any{"halts": names}
			if x.Hours != nil {
				one["hours"] = x.Hours.RatString()
			}
			trips = append(trips, one)
		}
		tours = append(tours, map[string]any{"name": r.Name, "buses": r.Buses, "zones": visits, "next": next,
			"halts": halts, "trips": trips})
	}
	return map[string]any{"zones": zones, "tours": tours}
}

// A fataler is a *testing.T or a *rapid.T.
type fataler interface{ Fatal(...any) }

func parse(t fataler, v any) *file.Node {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	root, err := file.Read(strings.NewReader(string(text)), file.JSON, "a city")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// A place is the position of a value in a file.
type place struct {
	path string
	set  func(any)
}

// places returns the places of all values within v, which has the given path.
func places(v any, path string) (all []place) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := input.Field(path, key)
			all = append(append(all, place{at, func(x any) { v[key] = x }}), places(v[key], at)...)
		}
	case []any:
		for i := range v {
			at := input.Index(path, i)
			all = append(append(all, place{at, func(x any) { v[i] = x }}), places(v[i], at)...)
		}
	}
	return all
}

// pathOf returns the path of an error.
func pathOf(t fataler, err error) string {
	var bad *input.Error
	if !errors.As(err, &bad) {
		t.Fatal("error", err)
	}
	return bad.Path
}

// A written value is read back and accepted.
func TestReadWrittenValue(t *testing.T) {
	same := []cmp.Option{
		cmp.Comparer(func(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
		cmpopts.EquateEmpty(),
	}
	rapid.Check(t, func(t *rapid.T) {
		want := drawCity(t)
		got, err := cityFile.Read(parse(t, written(want)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, same...); diff != "" {
			t.Fatal(diff)
		}
		if err := cityFile.CheckAll(got); err != nil {
			t.Fatal(err)
		}
	})
}

// A boolean in place of any other value is rejected at its path.
func TestReadNamesThePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := written(drawCity(t))
		at := rapid.SampledFrom(places(text, "")).Draw(t, "place")
		at.set(true)
		_, err := cityFile.Read(parse(t, text))
		if path := pathOf(t, err); path != at.path {
			t.Fatalf("%s is wrong, the error is about %s", at.path, path)
		}
	})
}

// A value out of range is rejected at its path.
func TestCheckNamesThePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCity(t)
		bad := map[string]func(){}
		for i := range c.Zones {
			at := fmt.Sprintf("zones[%d]", i)
			bad[at+".name"] = func() { c.Zones[i].Name = "" }
			bad[at+".fare"] = func() { c.Zones[i].Fare = big.NewRat(-1, 2) }
		}
		for i := range c.Tours {
			at, r := fmt.Sprintf("tours[%d]", i), &c.Tours[i]
			bad[at+".name"] = func() { r.Name = "\x00" }
			bad[at+".buses"] = func() { r.Buses = 101 }
			for k := range r.Zones {
				bad[fmt.Sprintf("%s.zones[%d]", at, k)] = func() { r.Zones[k] = len(c.Zones) }
			}
			for k := range r.Next {
				bad[fmt.Sprintf("%s.next[%d][1]", at, k)] = func() { r.Next[k][1] = -1 }
			}
			for k := range r.Trips {
				bad[fmt.Sprintf("%s.trips[%d].hours", at, k)] = func() { r.Trips[k].Hours = new(big.Rat) }
				for h := range r.Trips[k].Halts {
					bad[fmt.Sprintf("%s.trips[%d].halts[%d]", at, k, h)] = func() { r.Trips[k].Halts[h] = len(r.Halts) }
				}
			}
		}
		at := rapid.SampledFrom(slices.Sorted(maps.Keys(bad))).Draw(t, "place")
		bad[at]()
		if path := pathOf(t, cityFile.CheckAll(c)); path != at {
			t.Fatalf("%s is wrong, the error is about %s", at, path)
		}
	})
}

// Many rows are read on all processors, and the error names the first of several wrong rows.
func TestReadManyRows(t *testing.T) {
	const n = 20_000
	zones := make([]any, n)
	for i := range zones {
		zones[i] = map[string]any{"name": fmt.Sprint("z", i), "fare": i}
	}
	text := map[string]any{"zones": zones, "tours": []any{}}
	c, err := cityFile.Read(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	for i, z := range c.Zones {
		if z.Name != fmt.Sprint("z", i) || z.Fare.Cmp(big.NewRat(int64(i), 1)) != 0 {
			t.Fatalf("row %d is %v", i, z)
		}
	}
	for _, i := range []int{n - 1, n/2 + 1, n / 3, 7} {
		zones[i] = map[string]any{"name": "z"}
		_, err := cityFile.Read(parse(t, text))
		if path, want := pathOf(t, err), fmt.Sprintf("zones[%d].fare", i); path != want {
			t.Errorf("the error is about %s, want %s", path, want)
		}
	}
}
