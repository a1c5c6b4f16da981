// Package arithmetic computes with numbers >= 0 as each engine knows them: a [Number] is a float64 of wide range with
// a proved bound on its relative error, an interval, or a fraction, and its operations keep it so. What is written
// once in numbers holds for all three engines. The engines share no arithmetic.
package arithmetic
