package whatif

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"productform/cluster"
)

// A Description is a model in the representation of the page, and as text.
type Description struct {
	Model Model  `json:"model"`
	YAML  string `json:"yaml"`
}

// A Model is a [cluster.Model] in the form of a model file, with numbers as decimals if they are
// finite, otherwise as fractions.
type Model struct {
	Service      string   `json:"service,omitempty"` // "" for all
	Servers      []Server `json:"servers"`
	Classes      []Class  `json:"classes"`
	MeanSize     string   `json:"mean_size,omitempty"`     // "" for 1
	MeanPatience string   `json:"mean_patience,omitempty"` // "" if jobs never give up
	Patience     string   `json:"patience,omitempty"`      // its distribution; "" for exponential
}

// A Server is a row of servers.
type Server struct {
	Name     string `json:"name"`
	Count    int    `json:"count,omitempty"`    // 0 for one
	Capacity string `json:"capacity,omitempty"` // "" with the service gang
}

// A Class is a class of jobs.
type Class struct {
	Name        string `json:"name"`
	ArrivalRate string `json:"arrival_rate"`
	Servers     []any  `json:"servers,omitempty"`   // the name of a server, or a [Group]
	MeanSize    string `json:"mean_size,omitempty"` // "" for the mean size of the model

	Needs        map[string]int `json:"needs,omitempty"`         // with the service gang: servers by name of the row
	MeanPatience string         `json:"mean_patience,omitempty"` // "" for that of the model
	Patience     string         `json:"patience,omitempty"`      // its distribution; "" for exponential
	Priority     int            `json:"priority,omitempty"`
}

// A Group describes a choice of servers of a row by a class.
type Group struct {
	Group  string `json:"group"`
	Choose int    `json:"choose"`
}

// read reads a text.
func read(text string) (*Description, error) {
	m, err := cluster.Read(strings.NewReader(text))
	if err == nil {
		err = m.RequireNoTimeouts()
	}
	if err != nil {
		return nil, err
	}
	d := describe(m)
	return &d, nil
}

// describe returns a model that has passed [cluster.Model.Check] in the representation of the page.
func describe(m *cluster.Model) Description {
	d := Model{MeanPatience: optional(m.MeanPatience), Patience: m.Patience}
	if m.Service != cluster.AllServers {
		d.Service = string(m.Service)
	}
	for _, s := range m.Servers {
		row := Server{Name: s.Name}
		if m.Service != cluster.Gang {
			row.Capacity = decimal(s.Capacity)
		}
		if s.Size() > 1 {
			row.Count = s.Size()
		}
		d.Servers = append(d.Servers, row)
	}
	for _, c := range m.Classes {
		row := Class{
			Name: c.Name, ArrivalRate: decimal(c.ArrivalRate), MeanSize: optional(c.MeanSize),
			MeanPatience: optional(c.MeanPatience), Patience: c.Patience, Priority: c.Priority,
		}
		for _, choice := range c.Servers {
			if s := m.Servers[choice.Server]; s.Size() > 1 {
				row.Servers = append(row.Servers, Group{s.Name, choice.Choose})
			} else {
				row.Servers = append(row.Servers, s.Name)
			}
		}
		for _, need := range c.Needs {
			if row.Needs == nil {
				row.Needs = map[string]int{}
			}
			row.Needs[m.Servers[need.Server].Name] = need.Choose
		}
		d.Classes = append(d.Classes, row)
	}
	if m.MeanSize != nil && m.MeanSize.Cmp(big.NewRat(1, 1)) != 0 {
		d.MeanSize = decimal(m.MeanSize)
	}
	return Description{d, d.yaml()}
}

// optional returns a number as decimal does, "" for nil.
func optional(v *big.Rat) string {
	if v == nil {
		return ""
	}
	return decimal(v)
}

// decimal returns a fraction as a decimal if that is short, otherwise as a fraction.
func decimal(v *big.Rat) string {
	const longest = 20
	places, exact := v.FloatPrec()
	if !exact {
		return v.RatString()
	}
	text := v.FloatString(places)
	if len(text) <= longest+2 { // a point, and a zero before it
		return text
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if len(short) > longest {
		return v.RatString()
	}
	return fmt.Sprintf("%se%d", short, len(digits)-len(short)-places)
}

// A row collects the fields of an object in YAML.
type row []string

// add adds a field unless its value is empty.
func (r *row) add(name, value string) {
	if value != "" {
		*r = append(*r, name+": "+value)
	}
}

func (r row) object() string { return "{" + strings.Join(r, ", ") + "}" }

// yaml returns the text of a model file, one row per line.
func (m Model) yaml() string {
	var b strings.Builder
	setting := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	setting("service", m.Service)
	b.WriteString("servers:\n")
	for _, s := range m.Servers {
		var r row
		r.add("name", word(s.Name))
		r.add("count", positive(s.Count))
		r.add("capacity", s.Capacity)
		fmt.Fprintf(&b, "  - %s\n", r.object())
	}
	b.WriteString("classes:\n")
	for _, c := range m.Classes {
		var r row
		r.add("name", word(c.Name))
		r.add("arrival_rate", c.ArrivalRate)
		r.add("servers", m.choices(c))
		r.add("needs", m.needs(c))
		r.add("mean_size", c.MeanSize)
		r.add("priority", positive(c.Priority))
		r.add("mean_patience", c.MeanPatience)
		r.add("patience", distribution(c.Patience))
		fmt.Fprintf(&b, "  - %s\n", r.object())
	}
	setting("mean_size", m.MeanSize)
	setting("mean_patience", m.MeanPatience)
	setting("patience", distribution(m.Patience))
	return b.String()
}

// positive returns a count, "" for 0.
func positive(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// distribution returns the name of a distribution in YAML, "" for none.
func distribution(name string) string {
	if name == "" {
		return ""
	}
	return word(name)
}

// choices returns the servers of a class. A job that runs on one server of a whole group names the
// group.
func (m Model) choices(c Class) string {
	if c.Servers == nil {
		return ""
	}
	var names []string
	for _, s := range c.Servers {
		switch s := s.(type) {
		case string:
			names = append(names, word(s))
		case Group:
			at := slices.IndexFunc(m.Servers, func(row Server) bool { return row.Name == s.Group })
			if m.Service == string(cluster.OneServer) && m.Servers[at].Count == s.Choose {
				names = append(names, word(s.Group))
			} else {
				names = append(names, fmt.Sprintf("{group: %s, choose: %d}", word(s.Group), s.Choose))
			}
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// needs returns the servers that jobs of a class hold, in the order of the rows of servers.
func (m Model) needs(c Class) string {
	if c.Needs == nil {
		return ""
	}
	var r row
	for _, s := range m.Servers {
		r.add(word(s.Name), positive(c.Needs[s.Name]))
	}
	return r.object()
}

// plain matches the names that need no quotes in YAML, except those with another meaning.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// word returns a name in YAML. Go and YAML use the same escapes in quotes.
func word(name string) string {
	reserved := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if plain.MatchString(name) && !slices.Contains(reserved, strings.ToLower(name)) {
		return name
	}
	return strconv.Quote(name)
}
