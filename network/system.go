package network

import "math/big"

// A system is a network as the solvers take it: what routing and open chains leave of it. Its numbers are not to be changed.
type system struct {
	model    *Model
	chains   []chain
	closed   []int // chains that are closed, in order: the axes of lattices of populations
	stations []station
}

// A chain is a set of classes that jobs change between.
type chain struct {
	classes     []int // rows of the model's classes, increasing
	closed      bool
	population  int      // closed: N_k >= 1, jobs in the chain
	arrivalRate *big.Rat // open: jobs per unit of time from outside
	reference   Branch   // closed: the visit whose throughput is that of the chain; Class is Leaves if the cycle is that of Visit.Count
}

// A station is one as the lattice of populations sees it: exactly one of totals and shared is set.
type station struct {
	visits []visit
	demand []*big.Rat // D_ik = Σ w over the visits of closed chain k, at its place in system.closed
	load   *big.Rat   // ρ_i = Σ w over the visits of open chains
	totals *totals    // stations with Delay, Sharing, FCFS, LCFS
	shared *shared    // stations with Order, Balanced
}

// A visit is one of the model's, with what it contributes.
type visit struct {
	class, visit int      // Model.Classes[class].Visits[visit]
	chain        int      // of system.chains
	axis         int      // place of the chain in system.closed, -1 for an open one
	ratio        *big.Rat // v: visits per cycle (closed) or per unit of time (open)
	work         *big.Rat // w = v σ
}

// totals is a station whose balance function depends on the total of jobs: with u = Σ_k D_k z_k for the closed chains,
//
//	f(u + ρ) = scale Σ_n u^n / Π_{j <= n} α'(j),   α'(j) = rates[j-1], the last for all greater j,
//
// where α' is α of the model if ρ = 0. Multiplied with a lattice G by Horner's rule all terms are positive, whatever the rates:
// T_{m-1} = G/(1 - u/α'(m)), T_{j-1} = G + (u/α'(j)) T_j, f G = scale T_0. With Delay f(u + ρ) = e^((u + ρ)/rate), and rates is nil.
type totals struct {
	rates []*big.Rat // α'(1), ..., α'(m) > 0; nil with Delay
	delay *big.Rat   // work per unit of time of each server; nil but with Delay
	scale *big.Rat   // f(ρ), 1 if ρ = 0; nil with Delay, for which it is e^(ρ/delay)
	alone []*big.Rat // α(1), ..., α(m) of the model; nil with Delay
}

// shared is a station with Order or Balanced. Its local classes are its visits, in order.
type shared struct {
	// TODO
}
