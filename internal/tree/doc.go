// Package tree reads JSON and YAML 1.2 for the readers of models: into a tree that keeps numbers as they are written, so
// that 0.1 is one tenth, and keys as they repeat, so that a field given twice can be refused.
//
// Values are taken out of it by [Node.Fields], [Node.Rat] and so on, whose errors are an *[input.Error] with the
// path of the field. What is not JSON or YAML is a *[SyntaxError] with the line.
package tree
