// Package oracle holds what the tests of several packages share: random clusters, the answers of
// formulas at their most literal, in fractions, and the models with answers of an independent program.
//
// Of the module it uses the types of package cluster and nothing else, so that no oracle shares code with what
// it is compared with.
package oracle
