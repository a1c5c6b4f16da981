// Package agree holds no code, only tests: on random clusters the packages bf, oiqueue, whittle and stability, which do
// not import each other, give the same answers.
package agree
