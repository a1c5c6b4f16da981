// Package whatif answers the questions of the what-if page: how does a cluster perform at a given
// load, how do its measures change with the load, which change helps most, and what does a
// simulation estimate?
//
// [Answer] maps a question to its answer, both JSON. The page calls it in a browser, as
// WebAssembly, and tests call it natively: the digits are the same, and equal those of pfq for the
// same model. A question holds everything that its answer depends on. Models have the form of a
// model file; numbers are strings and read exactly.
package whatif
