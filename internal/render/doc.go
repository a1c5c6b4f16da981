// Package render writes the result of a command: how does it look as text, JSON and CSV? An answer
// is built from the plain structs that libraries return; tags name their fields:
//
//	type ClassResult struct {
//		Name        string     `json:"name" title:"class"`
//		ArrivalRate *big.Rat   `json:"arrival_rate"`
//		MeanSize    *big.Rat   `json:"mean_size,omitempty"`
//		Load        num.Value  `json:"load" below:"1"`
//		MeanDelay   *num.Value `json:"mean_delay" unit:"s"`
//		Lattice     Lattice    `json:"lattice" zero:"null"`
//	}
//
// The tag json names the field in JSON and CSV; structs that are sent as JSON under the names of
// their Go fields use the tag name instead. Text shows this name with spaces for underscores, or
// the title if there is one. unit is the unit in tables with a line for each measure. omitempty
// omits a zero value, and zero:"null" writes null for it, zero:"[]" an empty list. With
// exact:"always" the fraction of a *big.Rat is written in every style. A number with below:"1" is
// known to be below 1, so text never rounds it to 1. A fraction with beside:"1" is written as a
// float64 on the same side of 1; see [RatBeside]. Embedded structs and their pointers are written
// in place, nil pointers as null, a nil list of structs as an empty list, and a nil list of
// anything else as null. Fields keep their order. A number that is NaN or infinite is an error: a
// missing number is a nil pointer.
//
// A [Style] decides by engine what is written next to each number. A [Section] is a list in an
// answer with lines in CSV and a table in text; [Points] builds the answer from records and
// sections. [Read] reads the fields of an answer in JSON by the same tags.
package render
