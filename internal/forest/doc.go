// Package forest computes stationary measures of clusters under balanced fairness whose servers form a tree: each class has one server or two, and the pairs are
// the edges of a tree. It is the part of [productform/internal/elimination], which says why it can be, for messages of one time.
//
// Exponents are known there (forest.go), what is left changes on the scale of its argument, and two panels an octave are enough up to a time that is never reached
// (panels.go), at a load of 0.99999, too. sweep.go has the messages, curve.go and chebyshev.go their arithmetic, measures.go what comes of them.
package forest
