// Package forest answers: what are the stationary measures of a cluster under balanced fairness
// whose servers form a tree? Each class has one or two servers, and the pairs are the edges of a
// tree. It is the special case of [productform/bf/internal/elimination], which has the theory, with
// messages of one time.
//
// In a tree the exponents are known (forest.go). The remaining factors vary on the scale of their
// argument, so two panels per octave suffice up to a time that is practically never reached
// (panels.go), even at a load of 0.99999. sweep.go has the messages, curve.go and chebyshev.go
// their arithmetic, measures.go the measures.
package forest
