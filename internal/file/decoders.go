package file

import (
	"fmt"
	"reflect"
)

// decoders holds the registered decoders by type of model. It is constant once all packages are
// initialized.
var decoders = map[reflect.Type]any{}

// Register makes a decoder of models available to [Decode]. Packages register during
// initialization. Other readers of this module can then decode a model inside a larger file without
// an exported function that takes a tree.
func Register[T any](decode func(*Node) (*T, error)) { decoders[reflect.TypeFor[T]()] = decode }

// Decode returns the model that a tree describes, using the decoder registered by the package of T.
// Errors include the line.
func Decode[T any](n *Node) (*T, error) {
	decode, ok := decoders[reflect.TypeFor[T]()].(func(*Node) (*T, error))
	if !ok {
		panic(fmt.Sprintf("file: no decoder of %v is registered", reflect.TypeFor[T]()))
	}
	return decode(n)
}
