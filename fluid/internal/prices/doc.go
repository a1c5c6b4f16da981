// Package prices answers: at which prices of the resources do jobs get proportionally fair shares?
// It solves the dual problem: it finds the prices p >= 0 at which
//
//	Σ_j p_j - Σ_i m_i log Σ_j p_j b_ij
//
// is minimal, using Newton's method, in float64 ([Solver]) and in big.Float ([Dual]). m_i is the
// total weight of the jobs of row i, and b_ij the need of their tasks for resource j. The prices
// are the Lagrange multipliers of the capacities in the primal problem, which maximizes Σ_i m_i log
// s_i (F. P. Kelly, A. K. Maulloo and D. K. H. Tan, "Rate control for communication networks:
// shadow prices, proportional fairness and stability", Journal of the Operational Research Society
// 49, 1998, 237–252). [Dual.Minimise] describes the iteration, which is the same in float64 in
// [Solver].
package prices
