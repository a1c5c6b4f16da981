// Package arithmetic answers: how does one algorithm run on all engines, with numbers >= 0? A
// [Number] is a float64 of wide range with a proved bound on its relative error, an interval, or a
// fraction, and its operations preserve that. An algorithm on numbers works for all three engines,
// which share no arithmetic.
package arithmetic
