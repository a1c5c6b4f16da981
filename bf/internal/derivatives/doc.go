// Package derivatives finds the second derivatives of the normalization of a component: those of its mean numbers of jobs.
//
// Z is what the recursion of a graph ends with. One sweep up the graph and one down, as of automatic differentiation, give its derivatives with respect to all
// rates and capacities. Dual numbers, which carry the derivative in a direction of the rates along, give the derivatives of these in that direction, too: of E[X] = Σ_i E[X_i], the derivative of
// log Z(zλ) at z = 1, or of h_i = ∂ log Z/∂λ_i. Products, sums and quotients of numbers >= 0 are all there is but for one difference at the end.
package derivatives
