// Package oracle answers for tests: what is the exact value that a package should compute? It
// provides random clusters, literal formulas evaluated in fractions, and models with answers from
// an independent program.
//
// Of this module it uses only the types of package cluster, so no oracle shares code with the
// package it checks.
package oracle
