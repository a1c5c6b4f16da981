package cluster_test

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
)

const everything = `{
  "servers": [{"name": "s1", "capacity": 0.1}, {"capacity": "1/3", "name": "rack", "count": "4"},
              {"name": "t", "capacity": 1e-3}],
  "classes": [{"name": "a \"é\" 😀", "arrival_rate": "4/5", "servers": ["s1", {"choose": 2, "group": "rack"}]},
              {"name": "b", "arrival_rate": 123456789012345678901234567890, "servers": [{"group": "t", "choose": 1}]}],
  "mean_size": "2.50"
}`

// patient and timed have the fields of jobs that give up and of jobs that time out.
const (
	patient = `{"servers": [{"name": "s", "capacity": 1}], "service": "one",
  "mean_patience": "1/3", "patience": "erlang:2",
  "classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"], "mean_patience": 2, "patience": "deterministic"}]}`
	timed = `{"servers": [{"name": "s", "capacity": 1}], "mean_timeout": "1/3",
  "classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"], "mean_timeout": 2}]}`
)

func theModel() *cluster.Model {
	large, _ := new(big.Rat).SetString("123456789012345678901234567890")
	return &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Count: 1, Capacity: big.NewRat(1, 10)},
			{Name: "rack", Count: 4, Capacity: big.NewRat(1, 3)},
			{Name: "t", Count: 1, Capacity: big.NewRat(1, 1000)},
		},
		Classes: []cluster.Class{
			{
				Name:        `a "é" 😀`,
				ArrivalRate: big.NewRat(4, 5),
				Servers:     []cluster.Choice{{Server: 0, Choose: 1}, {Server: 1, Choose: 2}},
			},
			{Name: "b", ArrivalRate: large, Servers: cluster.On(2)},
		},
		MeanSize: big.NewRat(5, 2),
	}
}

// The plain name of a group means the whole group.
func TestGroupByName(t *testing.T) {
	const text = `servers: [{name: s, capacity: 1}, {name: rack, capacity: 2, count: 4}]
classes: [{name: a, arrival_rate: 1, servers: [s, %s]}]`
	var shapes []string
	for _, servers := range []string{"rack", "{group: rack, choose: 4}"} {
		m, err := cluster.ReadYAML(strings.NewReader(fmt.Sprintf(text, servers)))
		if err != nil {
			t.Fatal(err)
		}
		shapes = append(shapes, shape(m))
	}
	if shapes[0] != shapes[1] {
		t.Errorf("%s\nis not\n%s", shapes[0], shapes[1])
	}
}

func TestReadExactly(t *testing.T) {
	yaml := `%YAML 1.2
---
# a comment
mean_size: 2.50
servers:
  - name: s1
    capacity: 0.1    # a tenth
  - {name: 'rack', count: 4, capacity: 1/3}
  - name: t
    capacity: 1e-3
classes:
- name: "a \"é\" 😀"
  arrival_rate: "4/5"
  servers:
  - s1
  - group: rack
    choose: 2
- name: b
  arrival_rate: 123456789012345678901234567890
  servers: [{group: t, choose: 1}]
...
`
	for _, c := range []struct {
		name, text string
		read       func(io.Reader) (*cluster.Model, error)
	}{
		{"json", everything, cluster.ReadJSON},
		{"json after a byte order mark", "\ufeff" + everything, cluster.ReadJSON},
		{"json as yaml", everything, cluster.ReadYAML},
		{"json sniffed", "\n\t " + everything, cluster.Read},
		{"yaml", yaml, cluster.ReadYAML},
		{"yaml with returns", strings.ReplaceAll(yaml, "\n", "\r\n"), cluster.ReadYAML},
		{"yaml sniffed", yaml, cluster.Read},
	} {
		m, err := c.read(strings.NewReader(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, want := shape(m), shape(theModel()); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// Missing fields have their defaults.
func TestDefaults(t *testing.T) {
	m, err := cluster.ReadJSON(strings.NewReader(goodModel))
	if err != nil {
		t.Fatal(err)
	}
	if m.MeanSize != nil || m.Servers[0].Count != 1 {
		t.Errorf("mean size %v, count %d; want nil, 1", m.MeanSize, m.Servers[0].Count)
	}
}

// A model that is written as JSON, or here as YAML, and read again does not change.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t, 5, 5, 4)
		for i := range m.Servers {
			m.Servers[i].Name = fmt.Sprint(rapid.StringMatching(`[^\pC]{0,3}`).Draw(t, "name"), i)
		}
		sameAgain(t, m)
		read, err := cluster.ReadYAML(strings.NewReader(formatYAML(m)))
		if err != nil {
			t.Fatalf("%v\n%s", err, formatYAML(m))
		}
		if shape(read) != shape(m) {
			t.Fatalf("got\n%s\nwant\n%s", shape(read), shape(m))
		}
	})
}

// Long lines of flow YAML with unquoted names such as rack:1 mean the same as in JSON, however far
// they are indented.
func TestFlowStyles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, classes := rapid.IntRange(1, 400).Draw(t, "servers"), rapid.IntRange(1, 5).Draw(t, "classes")
		quote := rapid.SampledFrom([]string{"", "", "'", `"`}).Draw(t, "quote")
		indent := strings.Repeat(" ", rapid.SampledFrom([]int{0, 2, 7, 1500}).Draw(t, "indentation"))
		gap := rapid.SampledFrom([]string{
			" ", "  ", "\n" + indent + "    ", " # c\n" + indent + "     ",
		}).Draw(t, "gap")
		var asJSON, block, flow []string
		for s := range servers {
			asJSON = append(asJSON, fmt.Sprintf(`{"name": "rack:%d", "capacity": 1.50}`, s))
			flow = append(flow, fmt.Sprintf("{name: %srack:%d%s,%scapacity: 1.50}", quote, s, quote, gap))
		}
		text := "{" + `"servers": [` + strings.Join(asJSON, ", ") + `], "classes": [`
		yaml := "servers: [" + strings.Join(flow, ","+gap) + "]\nclasses:"
		asJSON = nil
		for c := range classes {
			var names, bare []string
			for _, s := range rapid.SliceOfNDistinct(rapid.IntRange(0, servers-1), 1, servers, rapid.ID[int]).Draw(
				t, "servers",
			) {
				names, bare = append(names, fmt.Sprintf(`"rack:%d"`, s)), append(bare, fmt.Sprintf("%srack:%d%s",
					quote, s, quote))
			}
			asJSON = append(asJSON, fmt.Sprintf(`{"name": "c:%d", "arrival_rate": "1/7", "servers": [%s]}`,
				c, strings.Join(names, ", ")))
			if rapid.Bool().Draw(t, "block") {
				block = append(block, fmt.Sprintf("\n%s- name: c:%d\n%s  arrival_rate: 1/7\n%s  servers: [%s]",
					indent, c, indent, indent, strings.Join(bare, ","+gap)))
			} else {
				block = append(block, fmt.Sprintf("\n%s- {name: c:%d,%sarrival_rate: 1/7,%sservers: [%s]}",
					indent, c, gap, gap, strings.Join(bare, ","+gap)))
			}
		}
		text += strings.Join(asJSON, ", ") + "]}"
		yaml += strings.Join(block, "") + "\n"
		want, err := cluster.ReadJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := cluster.ReadYAML(strings.NewReader(yaml))
		if err != nil || shape(got) != shape(want) {
			t.Fatalf("%v\n%s", err, yaml)
		}
	})
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// sameAgain writes m as JSON and reads it as JSON and as YAML, which includes JSON, and writes m as
// YAML with comments and reads it.
func sameAgain(t fataler, m *cluster.Model) {
	var b bytes.Buffer
	if err := m.WriteJSON(&b); err != nil {
		t.Fatalf("%v", err)
	}
	for _, read := range []func(io.Reader) (*cluster.Model, error){cluster.ReadJSON, cluster.Read, cluster.ReadYAML} {
		again, err := read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if shape(again) != shape(m) {
			t.Fatalf("got\n%s\nwant\n%s", shape(again), shape(m))
		}
	}
	b.Reset()
	comments := cluster.Comments{Head: []string{"no: rows", ""}, Classes: []string{"of one: \n# and\u2028two \xff"}}
	if err := m.WriteYAML(&b, comments); err != nil {
		t.Fatalf("%v", err)
	}
	again, err := cluster.ReadYAML(bytes.NewReader(b.Bytes()))
	if err != nil || shape(again) != shape(m) {
		t.Fatalf("%v\n%s", err, b.String())
	}
}

// formatYAML writes a model in block style, with unquoted numbers.
func formatYAML(m *cluster.Model) string {
	var b strings.Builder
	b.WriteString("servers:\n")
	for _, s := range m.Servers {
		fmt.Fprintf(&b, "- name: %s\n  count: %d\n  capacity: %s\n",
			strconv.Quote(s.Name), s.Size(), s.Capacity.RatString())
	}
	b.WriteString("classes:\n")
	for _, c := range m.Classes {
		fmt.Fprintf(&b, "- name: %s\n  arrival_rate: %s\n  servers:\n", c.Name, c.ArrivalRate.RatString())
		for _, choice := range c.Servers {
			fmt.Fprintf(&b, "  - group: %s\n    choose: %d\n",
				strconv.Quote(m.Servers[choice.Server].Name), choice.Choose)
		}
		if c.MeanSize != nil {
			fmt.Fprintf(&b, "  mean_size: %s\n", c.MeanSize.RatString())
		}
	}
	if m.MeanSize != nil {
		fmt.Fprintf(&b, "mean_size: %s\n", m.MeanSize.RatString())
	}
	return b.String()
}

func FuzzReadJSON(f *testing.F) {
	for _, c := range badJSON {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(everything))
	f.Add([]byte(patient))
	f.Add([]byte(timed))
	f.Add([]byte(goodModel))
	f.Fuzz(func(t *testing.T, data []byte) { acceptedIsGood(t, data, cluster.ReadJSON) })
}

func FuzzReadYAML(f *testing.F) {
	for _, c := range badYAML {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(everything))
	f.Add([]byte(patient))
	f.Add([]byte(timed))
	f.Add([]byte(formatYAML(theModel())))
	f.Fuzz(func(t *testing.T, data []byte) { acceptedIsGood(t, data, cluster.ReadYAML) })
}

// acceptedIsGood checks that every text yields either an error or a valid model.
func acceptedIsGood(t *testing.T, data []byte, read func(io.Reader) (*cluster.Model, error)) {
	m, err := read(bytes.NewReader(data))
	if err != nil {
		if m != nil || err.Error() == "" {
			t.Fatalf("model %v, error %q", m, err)
		}
		return
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	sameAgain(t, m)
	if _, err := m.Reduce(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := wide(100_000, 10).WriteJSON(&text); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		read func(io.Reader) (*cluster.Model, error)
	}{{"json", cluster.ReadJSON}, {"yaml", cluster.ReadYAML}} {
		b.Run("classes=100000/choices=1000000/format="+c.name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := c.read(bytes.NewReader(text.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// wide returns a model of n classes on the same number of servers, with degree servers per class.
func wide(n, degree int) *cluster.Model {
	m := &cluster.Model{}
	for i := range n {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", i), Capacity: big.NewRat(int64(i%7), 2)})
		c := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(int64(i%5+1), 10)}
		for k := range degree {
			c.Servers = append(c.Servers, cluster.Choice{Server: (i*i + k*k*k*7919) % n, Choose: 1})
		}
		m.Classes = append(m.Classes, c)
	}
	return m
}
