package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// WriteJSON writes the model in the form that [ReadJSON] reads, one row per line. Integers up to
// 2^53, which any JSON reader reads exactly, are written as numbers, and all other numbers as
// strings such as "4/5". Reading the text back gives the same model. The error is that of
// [Model.Check], with nothing written, or that of w.
func (m *Model) WriteJSON(w io.Writer) error {
	if err := m.Check(); err != nil {
		return err
	}
	f := form{field: jsonString, text: jsonString, number: jsonNumber}
	b := bufio.NewWriter(w)
	b.WriteString("{\n  \"servers\": [\n    ")
	b.WriteString(strings.Join(f.servers(m), ",\n    "))
	b.WriteString("\n  ],\n  \"classes\": [\n    ")
	b.WriteString(strings.Join(f.classes(m), ",\n    "))
	b.WriteString("\n  ]")
	for _, setting := range f.settings(m) {
		b.WriteString(",\n  " + setting)
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

// Comments are lines of a YAML file for its reader.
type Comments struct {
	Head    []string // above the model
	Classes []string // above the class of the same row; "" for none
}

// WriteYAML writes the model in the form that [ReadYAML] reads, one row per line, with comments.
// Numbers are exact: the shorter of decimal and fraction. Reading the text back gives the same
// model. The error is that of [Model.Check], with nothing written, or that of w.
func (m *Model) WriteYAML(w io.Writer, c Comments) error {
	if err := m.Check(); err != nil {
		return err
	}
	f := form{field: func(name string) string { return name }, text: yamlText, number: yamlNumber, isShort: true}
	b := bufio.NewWriter(w)
	for _, line := range c.Head {
		b.WriteString(comment(line))
	}
	for _, setting := range f.settings(m) {
		b.WriteString(setting + "\n")
	}
	b.WriteString("servers:\n")
	for _, row := range f.servers(m) {
		b.WriteString("  - " + row + "\n")
	}
	b.WriteString("classes:\n")
	for i, row := range f.classes(m) {
		if i < len(c.Classes) && c.Classes[i] != "" {
			b.WriteString("  " + comment(c.Classes[i]))
		}
		b.WriteString("  - " + row + "\n")
	}
	return b.Flush()
}

// comment returns a comment of YAML, on one line.
func comment(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffd {
			return '?'
		}
		return c
	}, text)
	return strings.TrimRight("# "+text, " ") + "\n"
}

// A form writes the names of fields, texts and numbers in one language.
type form struct {
	field, text func(string) string
	number      func(*big.Rat) string
	isShort     bool // whole groups are written by name
}

// A fieldList collects the fields of an object.
type fieldList struct {
	form
	fields []string
}

func (l *fieldList) add(name, value string) { l.fields = append(l.fields, l.field(name)+": "+value) }

// addNumber adds a number unless it is missing.
func (l *fieldList) addNumber(name string, x *big.Rat) {
	if x != nil {
		l.add(name, l.number(x))
	}
}

// addText adds a text unless it is empty.
func (l *fieldList) addText(name, text string) {
	if text != "" {
		l.add(name, l.text(text))
	}
}

func (l *fieldList) object() string { return "{" + strings.Join(l.fields, ", ") + "}" }

// servers returns the rows of servers.
func (f form) servers(m *Model) (rows []string) {
	for _, s := range m.Servers {
		l := fieldList{form: f}
		l.add("name", f.text(s.Name))
		if s.Size() > 1 {
			l.add("count", strconv.Itoa(s.Size()))
		}
		l.addNumber("capacity", s.Capacity) // it may be nil with the service Gang
		rows = append(rows, l.object())
	}
	return rows
}

// classes returns the rows of classes.
func (f form) classes(m *Model) (rows []string) {
	for _, c := range m.Classes {
		l := fieldList{form: f}
		l.add("name", f.text(c.Name))
		l.addNumber("arrival_rate", c.ArrivalRate)
		if m.Service == Gang {
			l.add("needs", f.needs(m, c))
		} else {
			l.add("servers", f.choices(m, c))
		}
		l.addNumber("mean_size", c.MeanSize)
		if c.Priority != 0 {
			l.add("priority", strconv.Itoa(c.Priority))
		}
		l.addNumber("mean_patience", c.MeanPatience)
		l.addText("patience", c.Patience)
		l.addNumber("mean_timeout", c.MeanTimeout)
		rows = append(rows, l.object())
	}
	return rows
}

// settings returns the fields of the model other than servers and classes.
func (f form) settings(m *Model) []string {
	l := fieldList{form: f}
	l.addNumber("mean_size", m.MeanSize)
	if m.service() != AllServers {
		l.add("service", f.text(string(m.Service)))
	}
	l.addNumber("mean_patience", m.MeanPatience)
	l.addText("patience", m.Patience)
	l.addNumber("mean_timeout", m.MeanTimeout)
	return l.fields
}

func (f form) needs(m *Model, c Class) string {
	amounts := make([]string, len(c.Needs))
	for k, need := range c.Needs {
		amounts[k] = f.text(m.Servers[need.Server].Name) + ": " + strconv.Itoa(need.Choose)
	}
	return "{" + strings.Join(amounts, ", ") + "}"
}

func (f form) choices(m *Model, c Class) string {
	servers := make([]string, len(c.Servers))
	for k, choice := range c.Servers {
		s := m.Servers[choice.Server]
		servers[k] = f.text(s.Name)
		if s.Size() > 1 && !(f.isShort && choice.Choose == s.Size()) {
			l := fieldList{form: f}
			l.add("group", servers[k])
			l.add("choose", strconv.Itoa(choice.Choose))
			servers[k] = l.object()
		}
	}
	return "[" + strings.Join(servers, ", ") + "]"
}

func jsonNumber(x *big.Rat) string {
	if x.IsInt() && x.Num().BitLen() <= 53 {
		return x.RatString()
	}
	return strconv.Quote(x.RatString())
}

func jsonString(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("cluster: " + err.Error()) // a string can always be encoded
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

// yamlNumber returns the shorter of the decimal and the fraction that are x.
func yamlNumber(x *big.Rat) string {
	fraction := x.RatString()
	if digits, isExact := x.FloatPrec(); isExact && digits < len(fraction) {
		if decimal := x.FloatString(digits); len(decimal) <= len(fraction) {
			return decimal
		}
	}
	return fraction
}

// plainName matches the names that need no quotes in YAML, and words such as true, which do.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// yamlText returns a name without quotes if every reader of YAML takes it for a text.
func yamlText(s string) string {
	words := []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
	if plainName.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return jsonString(s)
}
