package tree

import (
	"fmt"
	"reflect"
)

// decoders holds the registered decoders by type of model. It is constant once all packages are
// initialized.
var decoders = map[reflect.Type]any{}

// Register makes a decoder of models available to [Decode]. Packages register while they are
// initialized, so that other readers of this module can decode a model inside a larger file without
// an exported function that takes a tree.
func Register[T any](decode func(*Node) (*T, error)) { decoders[reflect.TypeFor[T]()] = decode }

// Decode returns the model that a tree describes, by the decoder that the package of T registered.
// Errors have the line.
func Decode[T any](n *Node) (*T, error) {
	decode, ok := decoders[reflect.TypeFor[T]()].(func(*Node) (*T, error))
	if !ok {
		panic(fmt.Sprintf("tree: no decoder of %v is registered", reflect.TypeFor[T]()))
	}
	return decode(n)
}
