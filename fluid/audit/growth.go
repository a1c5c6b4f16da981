package audit

import (
	"math/big"

	"productform/num"
)

// A Growth is a job that could run more tasks while all others keep theirs: the one whose dominant
// share could grow most.
type Growth struct {
	Job int `json:"job"` // row of Pool.Jobs

	// Tasks is the number of additional tasks that one job of the row could run: min_j (1 -
	// u_j)/a_ij for utilizations u_j, up to its limit.
	Tasks *big.Rat `json:"tasks" beside:"1"`
}

// growth returns a job that is below its limit and needs no saturated resource, nil if there is
// none.
//
// A feasible allocation φ is Pareto efficient if and only if every job needs a saturated resource.
// If job i needs none, φ_i + min_j (1 - u_j)/a_ij > φ_i keeps every u_j <= 1. Conversely let ψ >= φ
// be feasible with ψ_i > φ_i. On every resource j that i needs, 1 >= Σ_k ψ_k a_kj >= Σ_k φ_k a_kj +
// (ψ_i - φ_i) a_ij > Σ_k φ_k a_kj. Hence no such resource is saturated.
func (h *holdings) growth(used []*big.Rat, saturated, atLimit []bool) *Growth {
	one := big.NewRat(1, 1)
	rest := make([]*big.Rat, len(used)) // 1 - u_j
	for j, u := range used {
		rest[j] = new(big.Rat).Sub(one, u)
	}
	rest, unit := num.OverCommon(rest)
	var best *Growth
	var most *big.Rat
rows:
	for i, need := range h.Need {
		if atLimit[i] {
			continue
		}
		var room *big.Rat // min_j (1 - u_j) d_i/a_ij, by which the dominant share can grow; or what the limit permits
		if l := h.limitOf(i); l != nil {
			room = new(big.Rat).Sub(l, new(big.Rat).Mul(h.share[i], h.unit))
			room.Quo(room, unit)
		}
		for j, a := range need {
			if a.Sign() == 0 {
				continue
			}
			if saturated[j] {
				continue rows
			}
			if x := new(big.Rat).Quo(rest[j], a); room == nil || x.Cmp(room) < 0 {
				room = x
			}
		}
		if most == nil || room.Cmp(most) > 0 {
			most, best = room, &Growth{Job: i}
		}
	}
	if best != nil {
		best.Tasks = new(big.Rat).Quo(most.Mul(most, unit), h.Dominant[best.Job])
	}
	return best
}
