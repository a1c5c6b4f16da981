package br14

// BalancedMeans returns E[x_k] of two classes under balanced fairness on two resources of capacity
// 1, from Φ(x) = max_j Σ_k a_kj Φ(x-e_k) at x_k < 200. A class-k task needs a[k][j] of resource j,
// and work of the class arrives at rate[k]; at load 0.6 the truncated states have a probability
// below 1e-30.
func BalancedMeans(a [2][2]float64, rate [2]float64) [2]float64 {
	const n = 200
	weight := make([]float64, n*n) // Φ(x) λ^x at index x_1 n + x_2
	var sum float64
	var mean [2]float64
	for x := range n {
		for y := range n {
			w := 0.0
			if x+y == 0 {
				w = 1
			}
			for j := range 2 {
				v := 0.0
				if x > 0 {
					v += a[0][j] * rate[0] * weight[(x-1)*n+y]
				}
				if y > 0 {
					v += a[1][j] * rate[1] * weight[x*n+y-1]
				}
				w = max(w, v)
			}
			weight[x*n+y] = w
			sum += w
			mean[0] += float64(x) * w
			mean[1] += float64(y) * w
		}
	}
	return [2]float64{mean[0] / sum, mean[1] / sum}
}

// ProportionalOfTwo returns the tasks of jobs under proportional fairness on two full resources, if
// all tasks of job k, running alone, would need the fractions needs[k] of them. With prices p and
// q = n - p, φ_k = all/(q needs[k][0] + p needs[k][1]): the prices times the capacities equal the
// total payment, and n jobs pay 1 each. p is found by bisection.
func ProportionalOfTwo(all float64, needs [][2]float64) []float64 {
	n := float64(len(needs))
	tasks := make([]float64, len(needs))
	low, high := 0.0, n
	for range 200 {
		p := (low + high) / 2
		second := 0.0
		for k, need := range needs {
			tasks[k] = all / ((n-p)*need[0] + p*need[1])
			second += tasks[k] / all * need[1]
		}
		if second > 1 {
			low = p
		} else {
			high = p
		}
	}
	return tasks
}

// LiarsTasks returns the number of tasks of a job with profile (1, a) that declares need for
// resource 2 instead of a and competes with a job with profile (a, 1). PF fills both resources,
// φ₁ = (1 - a)/(1 - a need), until the price of resource 1 is 0 at need = 1/(2 - a); then φ₁ = 1/(2
// need). DRF raises both by equal shares.
func LiarsTasks(a, need float64) (pf, drf float64) {
	pf = (1 - a) / (1 - a*need)
	if need > 1/(2-a) {
		pf = 1 / (2 * need)
	}
	return pf, 1 / max(1+a, 1+need)
}

// GhodsiTasks returns the numbers of tasks, computed by hand, of two jobs that share 9 processors
// and 18 GB. A task of the first job needs 1 processor and 4 GB, one of the second 3 processors and
// 1 GB (Ghodsi et al., NSDI 2011, section 4.1). PF and BMF fill both resources; under DRF 4φ₁/18 =
// 3φ₂/9 and the processors are full; max-min fairness has φ₁ = φ₂ and fills the processors;
// balanced fairness is Φ(0, 1)/Φ(1, 1) with Φ(0, 1) = 1/3, Φ(1, 0) = 2/9 and Φ(1, 1) = 1/9.
func GhodsiTasks() (full, drf, maxMin, balanced [2]float64) {
	return [2]float64{45.0 / 11, 18.0 / 11}, [2]float64{3, 2}, [2]float64{9.0 / 4, 9.0 / 4}, [2]float64{3, 2}
}
