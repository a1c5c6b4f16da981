package whatif

import (
	"cmp"
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
	Servers  []Server `json:"servers"`
	Classes  []Class  `json:"classes"`
	MeanSize string   `json:"mean_size,omitempty"` // "" for 1
}

// A Server is a row of servers.
type Server struct {
	Name     string `json:"name"`
	Count    int    `json:"count,omitempty"` // 0 for one
	Capacity string `json:"capacity"`
}

// A Class is a class of jobs.
type Class struct {
	Name        string `json:"name"`
	ArrivalRate string `json:"arrival_rate"`
	Servers     []any  `json:"servers"`             // the name of a server, or a [Group]
	MeanSize    string `json:"mean_size,omitempty"` // "" for the mean size of the model
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
		err = cmp.Or(m.RequireService(cluster.AllServers), m.RequireNoTimeouts())
	}
	if err != nil {
		return nil, err
	}
	d := describe(m)
	return &d, nil
}

// describe returns a model that has passed [cluster.Model.Check] in the representation of the page.
func describe(m *cluster.Model) Description {
	d := Model{}
	for _, s := range m.Servers {
		row := Server{Name: s.Name, Capacity: decimal(s.Capacity)}
		if s.Size() > 1 {
			row.Count = s.Size()
		}
		d.Servers = append(d.Servers, row)
	}
	for _, c := range m.Classes {
		row := Class{Name: c.Name, ArrivalRate: decimal(c.ArrivalRate)}
		for _, choice := range c.Servers {
			if s := m.Servers[choice.Server]; s.Size() > 1 {
				row.Servers = append(row.Servers, Group{s.Name, choice.Choose})
			} else {
				row.Servers = append(row.Servers, s.Name)
			}
		}
		if c.MeanSize != nil {
			row.MeanSize = decimal(c.MeanSize)
		}
		d.Classes = append(d.Classes, row)
	}
	if m.MeanSize != nil && m.MeanSize.Cmp(big.NewRat(1, 1)) != 0 {
		d.MeanSize = decimal(m.MeanSize)
	}
	return Description{d, d.yaml()}
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

// yaml returns the text of a model file, one row per line.
func (m Model) yaml() string {
	var b strings.Builder
	b.WriteString("servers:\n")
	for _, s := range m.Servers {
		count := ""
		if s.Count > 1 {
			count = fmt.Sprintf("count: %d, ", s.Count)
		}
		fmt.Fprintf(&b, "  - {name: %s, %scapacity: %s}\n", word(s.Name), count, s.Capacity)
	}
	b.WriteString("classes:\n")
	for _, c := range m.Classes {
		var servers []string
		for _, s := range c.Servers {
			switch s := s.(type) {
			case string:
				servers = append(servers, word(s))
			case Group:
				servers = append(servers, fmt.Sprintf("{group: %s, choose: %d}", word(s.Group), s.Choose))
			}
		}
		size := ""
		if c.MeanSize != "" {
			size = ", mean_size: " + c.MeanSize
		}
		fmt.Fprintf(&b, "  - {name: %s, arrival_rate: %s, servers: [%s]%s}\n",
			word(c.Name), c.ArrivalRate, strings.Join(servers, ", "), size)
	}
	if m.MeanSize != "" {
		fmt.Fprintf(&b, "mean_size: %s\n", m.MeanSize)
	}
	return b.String()
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
