// Package paper holds formulas and definitions of the papers as they stand there, slow and literal, for the checks of
// figures and for tests: the packages of the theory compute the same otherwise.
package paper
