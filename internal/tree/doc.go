// Package tree answers: which values does a JSON or YAML 1.2 file contain, exactly as written? It
// reads files of models into a tree that keeps numbers as written, so 0.1 is one tenth, and
// repeated keys, so a field given twice can be rejected.
//
// [Node.Fields], [Node.Rat] and similar methods extract values; their errors are an *[input.Error]
// with the path of the field. Text that is not JSON or YAML gives a *[SyntaxError] with the line.
package tree
