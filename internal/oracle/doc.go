// Package oracle supports tests: what is the exact value that a package should compute? It provides
// random clusters, literal formulas evaluated in fractions, and models with answers from an
// independent program.
//
// It uses only the types of package cluster from this module, so no oracle shares code with the
// package it checks.
package oracle
