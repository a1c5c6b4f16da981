// This file describes the fields that files of static pools and of traffic share: resources, jobs
// and demands.

package file

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"productform/internal/input"
)

// maxDemands is the maximum number of job rows times resources: demands are stored as a full table.
const maxDemands = 10_000_000

// ReadPool reads and checks a text; want describes the expected content. Errors name the line.
func ReadPool[T Checked](
	r io.Reader, format Format, want string, decode func(root *Node) (T, error),
) (v T, err error) {
	root, err := Read(r, format, want)
	if err != nil {
		return v, err
	}
	if err := checkSize(root); err != nil {
		return v, root.Locate(err)
	}
	return DecodeRoot(root, decode)
}

// checkSize rejects too many demands.
func checkSize(root *Node) error {
	size := map[string]int{}
	for i, key := range root.Keys {
		size[key] = len(root.Kids[i].Kids)
	}
	resources, jobs := max(size["resources"], 1), size["jobs"]
	if most := maxDemands / resources; jobs > most {
		return input.Errorf("jobs", fmt.Sprintf("%d rows", jobs), "at most %d rows for %d resources", most, resources)
	}
	return nil
}

// Resources describes the field resources, a list of objects R with name and capacity.
func Resources[T, R any](
	at func(*T) *[]R, name func(*R) *string, capacity func(*R) **big.Rat,
) Field[T] {
	resource := &Description[R]{Want: "an object with name and capacity", Fields: []Field[R]{
		Name("name of the resource", name).Example("cpu"),
		Rat("capacity", "available amount in any unit, a plain number without suffixes such as Gi or m",
			capacity, input.Positive).Example("9"),
	}}
	return Objects("resources", "list of resources", "an array of resources", at, resource,
		Length{Least: 1, One: "resource"}, func(r *R) string { return *name(r) }).Early()
}

// Demand describes a field with numbers by the names of resources, some of them positive. They
// become a list in the order of the resources with nil where no number is given.
func Demand[T any](name, doc string, at func(*T) *[]*big.Rat) Field[T] {
	return amounts(name, doc, at, checkDemand)
}

// Amounts describes a field like that of [Demand] whose numbers may all be 0.
func Amounts[T any](name, doc string, at func(*T) *[]*big.Rat) Field[T] {
	return amounts(name, doc, at, checkAmounts)
}

func amounts[T any](
	name, doc string, at func(*T) *[]*big.Rat, check func(path string, list []*big.Rat, names []string) error,
) Field[T] {
	return Custom(name, doc,
		func(sc *Scope, n *Node, path string, v *T) (err error) {
			names, rows := sc.Names("resources")
			*at(v), err = decode(n, path, names, rows)
			return err
		},
		func(sc *Scope, path string, v *T) error {
			names, _ := sc.Names("resources")
			return check(path, *at(v), names)
		},
		func(v *T) bool { return *at(v) == nil },
		func() Schema { return Ref("amounts") })
}

func decode(n *Node, path string, names []string, rows map[string]int) ([]*big.Rat, error) {
	keys, values, err := n.Entries(path, "an object with numbers by the names of resources")
	if err != nil {
		return nil, err
	}
	demand := make([]*big.Rat, len(names))
	for i, key := range keys {
		row, ok := rows[key]
		if !ok {
			return nil, input.Errorf(input.Field(path, key), &values[i], "a demand of %s", known(key, names))
		}
		// The path is built only for rejected values.
		if demand[row], err = values[i].Rat("", input.Nonnegative); err != nil {
			_, err = values[i].Rat(input.Field(path, key), input.Nonnegative)
			return nil, err
		}
	}
	return demand, nil
}

// known lists the resources for an error about an unknown key, and suggests the one that was
// probably meant.
func known(key string, names []string) string {
	const most = 10
	hint := DidYouMean(key, slices.Values(names), input.Quote)
	if len(names) > most {
		return fmt.Sprintf("one of the %d resources%s", len(names), hint)
	}
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, input.Quote(name))
	}
	return fmt.Sprintf("one of the resources %s%s", strings.Join(quoted, ", "), hint)
}

// checkDemand rejects a demand without a positive number, and everything that checkAmounts rejects.
func checkDemand(path string, demand []*big.Rat, names []string) error {
	isPositive := func(a *big.Rat) bool { return a != nil && a.Sign() > 0 }
	err := checkAmounts(path, demand, names)
	if err == nil && !slices.ContainsFunc(demand, isPositive) {
		err = input.Errorf(path, "all 0", "a positive demand of some resource")
	}
	return err
}

// checkAmounts rejects negative numbers, and more numbers than resources.
func checkAmounts(path string, demand []*big.Rat, names []string) error {
	if len(demand) > len(names) {
		return input.Errorf(path, fmt.Sprintf("%d numbers", len(demand)),
			"one for each of the %d resources at most", len(names))
	}
	for j, a := range demand {
		if a == nil {
			continue
		}
		if input.CheckNumber("", a, input.Nonnegative) != nil { // the path is built only for rejected values
			return input.CheckNumber(input.Field(path, names[j]), a, input.Nonnegative)
		}
	}
	return nil
}
