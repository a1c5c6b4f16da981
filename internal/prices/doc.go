// Package prices finds the prices p >= 0 at which
//
//	Σ_j p_j - Σ_i m_i log Σ_j p_j b_ij
//
// is least, by Newton's method, in float64 ([Solver]) and in big.Float ([Dual]). They are those of proportional fairness:
// m_i is the weight of all jobs of row i, b_ij what their tasks need of resource j.
package prices
