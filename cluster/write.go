package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"strconv"
)

// WriteJSON writes the model in the form that [ReadJSON] reads, one row per line. Integers up to
// 2^53, which any JSON reader reads exactly, are written as numbers, and all other numbers as
// strings such as "4/5". Reading the text back gives the same model. The error is that of
// [Model.Check], with nothing written, or that of w.
func (m *Model) WriteJSON(w io.Writer) error {
	if err := m.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.WriteString("{\n  \"servers\": [")
	for i, s := range m.Servers {
		startRow(b, i)
		b.WriteString(`{"name": ` + jsonString(s.Name))
		if s.Size() > 1 {
			b.WriteString(`, "count": ` + strconv.Itoa(s.Size()))
		}
		if s.Capacity != nil { // it may be nil with the service Gang
			b.WriteString(`, "capacity": ` + jsonNumber(s.Capacity))
		}
		b.WriteByte('}')
	}
	b.WriteString("\n  ],\n  \"classes\": [")
	for i, c := range m.Classes {
		startRow(b, i)
		b.WriteString(`{"name": ` + jsonString(c.Name) + `, "arrival_rate": ` + jsonNumber(c.ArrivalRate))
		m.writeServers(b, c)
		if c.MeanSize != nil {
			b.WriteString(`, "mean_size": ` + jsonNumber(c.MeanSize))
		}
		if c.Priority != 0 {
			b.WriteString(`, "priority": ` + strconv.Itoa(c.Priority))
		}
		if c.MeanPatience != nil {
			b.WriteString(`, "mean_patience": ` + jsonNumber(c.MeanPatience))
		}
		if c.Patience != "" {
			b.WriteString(`, "patience": ` + jsonString(c.Patience))
		}
		if c.MeanTimeout != nil {
			b.WriteString(`, "mean_timeout": ` + jsonNumber(c.MeanTimeout))
		}
		b.WriteByte('}')
	}
	b.WriteString("\n  ]")
	if m.MeanSize != nil {
		b.WriteString(",\n  \"mean_size\": " + jsonNumber(m.MeanSize))
	}
	if m.service() != AllServers {
		b.WriteString(",\n  \"service\": " + jsonString(string(m.Service)))
	}
	if m.MeanPatience != nil {
		b.WriteString(",\n  \"mean_patience\": " + jsonNumber(m.MeanPatience))
	}
	if m.Patience != "" {
		b.WriteString(",\n  \"patience\": " + jsonString(m.Patience))
	}
	if m.MeanTimeout != nil {
		b.WriteString(",\n  \"mean_timeout\": " + jsonNumber(m.MeanTimeout))
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

// writeServers writes the servers or the needs of a class.
func (m *Model) writeServers(b *bufio.Writer, c Class) {
	if m.Service == Gang {
		b.WriteString(`, "needs": {`)
		for k, need := range c.Needs {
			if k > 0 {
				b.WriteString(", ")
			}
			b.WriteString(jsonString(m.Servers[need.Server].Name) + ": " + strconv.Itoa(need.Choose))
		}
		b.WriteByte('}')
		return
	}
	b.WriteString(`, "servers": [`)
	for k, choice := range c.Servers {
		if k > 0 {
			b.WriteString(", ")
		}
		s := m.Servers[choice.Server]
		if s.Size() == 1 {
			b.WriteString(jsonString(s.Name))
		} else {
			b.WriteString(`{"group": ` + jsonString(s.Name) + `, "choose": ` + strconv.Itoa(choice.Choose) + "}")
		}
	}
	b.WriteByte(']')
}

func startRow(b *bufio.Writer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
	b.WriteString("\n    ")
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
