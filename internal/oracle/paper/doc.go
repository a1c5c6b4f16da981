// Package paper answers for tests and checks of figures: what do the formulas and definitions of
// the papers give, taken literally? They are slow; the packages of the theory compute the same
// values by other methods.
package paper
