// Package whatif answers the questions of the what-if page: what a cluster does at some load, how its measures change with
// the load, what would help it most, and what a simulation says.
//
// [Answer] takes a question and returns its answer, both JSON. The page asks it in a browser, where it is WebAssembly, and
// tests ask it here: the digits are the same, and those of pfq for the same model. A question holds all that its answer
// depends on. Models are in the form of a model file, numbers are strings that are read exactly.
package whatif
