// Package render writes the answers of commands as text, JSON and CSV. An answer is a plain struct; tags name its fields:
//
//	type class struct {
//		Name     string          `json:"name" title:"class"`
//		Rate     render.Number   `json:"arrival_rate"`
//		Delay    render.Number   `json:"mean_delay" unit:"s"`
//		Measured render.Estimate `json:"measured_delay"`
//		Count    int             `json:"count,omitempty"`
//	}
//
// json names the field in JSON and CSV, and with spaces for underscores in text unless title has another heading; unit is
// that of tables with a line for each measure. Embedded structs and their pointers are written in place, pointers that are nil as
// null. Fields keep their order. A number that is NaN or infinite is an error: what does not exist is a nil pointer.
package render
