package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/fluid"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

var sameRat = cmp.Comparer(func(x, y *big.Rat) bool { return x == y || x != nil && y != nil && x.Cmp(y) == 0 })

// classicPool is the example of Ghodsi et al.: tasks of 1 processor and 4 GB, and of 3 processors
// and 1 GB.
func classicPool() *fluid.Pool {
	return &fluid.Pool{
		Resources: []fluid.Resource{{Name: "cpu", Capacity: num.Rat("9")}, {Name: "ram", Capacity: num.Rat("18")}},
		Jobs:      []fluid.Job{{Name: "a", Demand: oracle.Rats("1 4")}, {Name: "b", Demand: oracle.Rats("3 1")}},
	}
}

// drawPool draws a pool of small fractions, in which jobs do not need every resource.
func drawPool(t *rapid.T, rows, resources int, weights, counts bool) *fluid.Pool {
	p := new(fluid.Pool)
	for j := range rapid.IntRange(1, resources).Draw(t, "resources") {
		p.Resources = append(p.Resources, fluid.Resource{
			Name:     fmt.Sprint("r", j),
			Capacity: big.NewRat(rapid.Int64Range(1, 30).Draw(t, "capacity"), 1),
		})
	}
	for i := range rapid.IntRange(1, rows).Draw(t, "rows") {
		job := fluid.Job{Name: fmt.Sprint("j", i), Demand: make([]*big.Rat, len(p.Resources))}
		for j := range job.Demand {
			if rapid.IntRange(0, 3).Draw(t, "needs") > 0 {
				job.Demand[j] = big.NewRat(
					rapid.Int64Range(1, 20).Draw(t, "demand"), rapid.Int64Range(1, 4).Draw(t, "over"),
				)
			}
		}
		if j := rapid.IntRange(0, len(p.Resources)-1).Draw(t, "must"); job.Demand[j] == nil {
			job.Demand[j] = big.NewRat(rapid.Int64Range(1, 20).Draw(t, "demand"), 1)
		}
		if weights {
			job.Weight = big.NewRat(rapid.Int64Range(1, 5).Draw(t, "weight"), rapid.Int64Range(1, 3).Draw(t, "over"))
		}
		if counts {
			job.Count = rapid.IntRange(0, 4).Draw(t, "count")
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

// Each property is violated in turn, with the witness computed by hand.
func TestAuditWitnesses(t *testing.T) {
	weighted := classicPool()
	weighted.Jobs[1].Weight, weighted.Jobs[1].Count = num.Rat("2"), 3
	tests := []struct {
		name  string
		pool  *fluid.Pool
		tasks []*big.Rat
		tol   string
		want  Report
	}{
		{"dominant resource fairness", classicPool(), oracle.Rats("3 2"), "0", Report{
			Utilization: oracle.Rats("1 7/9"), Saturated: []int{0}, Bottlenecks: [][]int{nil, {0}},
			NoBottleneck: []int{0},
		}},
		{"proportional fairness", classicPool(), oracle.Rats("45/11 18/11"), "0", Report{
			Utilization: oracle.Rats("1 1"), Saturated: []int{0, 1}, Bottlenecks: [][]int{{1}, {0}},
		}},
		{"too much memory", classicPool(), oracle.Rats("5 1"), "0", Report{
			Utilization: oracle.Rats("8/9 7/6"), Saturated: []int{1}, Bottlenecks: [][]int{{1}, nil},
			NoBottleneck: []int{1},
			Overload:     &Overload{1, num.Rat("7/6")},
			Shortfall:    &Shortfall{1, num.Rat("1/3"), num.Rat("1/2")},
			Envy:         &Envy{1, 0, num.Rat("1"), num.Rat("5/3")},
		}},
		{"both too much", classicPool(), oracle.Rats("9 4"), "0", Report{
			Utilization: oracle.Rats("7/3 20/9"), Saturated: []int{0, 1}, Bottlenecks: [][]int{{1}, {0}},
			Overload: &Overload{0, num.Rat("7/3")},
		}},
		{"idle", classicPool(), oracle.Rats("7/3 2"), "0", Report{ // a may grow by 2/3, b by 2/9, and 4/27 < 2/27
			Utilization: oracle.Rats("25/27 17/27"), Bottlenecks: [][]int{nil, nil}, NoBottleneck: []int{0, 1},
			Growth: &Growth{0, num.Rat("2/3")},
		}},
		{"envious", classicPool(), oracle.Rats("1/2 17/6"), "0", Report{
			Utilization: oracle.Rats("1 29/108"), Saturated: []int{0}, Bottlenecks: [][]int{nil, {0}},
			NoBottleneck: []int{0},
			Shortfall:    &Shortfall{0, num.Rat("1/9"), num.Rat("1/2")},
			Envy:         &Envy{0, 1, num.Rat("1/2"), num.Rat("17/24")},
		}},
		{"nothing", classicPool(), oracle.Rats("0 3"), "0", Report{
			Utilization: oracle.Rats("1 1/6"), Saturated: []int{0}, Bottlenecks: [][]int{nil, {0}},
			NoBottleneck: []int{0},
			Shortfall:    &Shortfall{0, new(big.Rat), num.Rat("1/2")},
			Envy:         &Envy{0, 1, new(big.Rat), num.Rat("3/4")},
		}},
		// Each of the three jobs of b is entitled to two sevenths, and holds a third of the
		// processors.
		{"by weight", weighted, oracle.Rats("0 1"), "0", Report{
			Utilization: oracle.Rats("1 1/6"), Saturated: []int{0}, Bottlenecks: [][]int{nil, {0}},
			NoBottleneck: []int{0},
			Shortfall:    &Shortfall{0, new(big.Rat), num.Rat("1/7")},
			Envy:         &Envy{0, 1, new(big.Rat), num.Rat("1/8")},
		}},
		// An overload, a shortfall and an envy of at most a tenth pass with tolerance 1/10, and a
		// utilization of 19/20 counts as saturated.
		{"tolerance", &fluid.Pool{
			Resources: []fluid.Resource{{Name: "r", Capacity: num.Rat("1")}},
			Jobs:      []fluid.Job{{Name: "a", Demand: oracle.Rats("1")}, {Name: "b", Demand: oracle.Rats("1")}},
		}, oracle.Rats("11/20 11/20"), "1/10", Report{
			Utilization: oracle.Rats("11/10"), Saturated: []int{0}, Bottlenecks: [][]int{{0}, {0}},
		}},
		{"tolerance exceeded", &fluid.Pool{
			Resources: []fluid.Resource{{Name: "r", Capacity: num.Rat("1")}},
			Jobs:      []fluid.Job{{Name: "a", Demand: oracle.Rats("1")}, {Name: "b", Demand: oracle.Rats("1")}},
		}, oracle.Rats("9/20 1/2"), "1/10", Report{
			Utilization: oracle.Rats("19/20"), Saturated: []int{0}, Bottlenecks: [][]int{nil, {0}},
			NoBottleneck: []int{0},
			Shortfall:    &Shortfall{0, num.Rat("9/20"), num.Rat("1/2")},
			Envy:         &Envy{0, 1, num.Rat("9/20"), num.Rat("1/2")},
		}},
	}
	for _, test := range tests {
		got, err := Audit(context.Background(), test.pool, test.tasks, num.Rat(test.tol))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(&test.want, got, sameRat); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A literalAudit evaluates the definitions on the pool as written, without witnesses.
type literalAudit struct {
	held, need  [][]*big.Rat // φ_i a_ij and a_ij
	used        []*big.Rat
	saturated   []int
	bottlenecks [][]int
	growth      *big.Rat // largest growth of a dominant share, 0 if there is none
	shortfall   *big.Rat // smallest ratio of tasks to those of a split by weight, 1 if none falls short
	// largest ratio of tasks with and without another job's bundle; 1 if there is none, nil if
	// unbounded
	envy *big.Rat
}

// literalRuns returns the number of tasks of a profile that fit into a scaled bundle.
func literalRuns(bundle, profile []*big.Rat, scale *big.Rat) *big.Rat {
	var least *big.Rat
	for j, a := range profile {
		if a.Sign() > 0 {
			x := new(big.Rat).Quo(bundle[j], a)
			if x.Mul(x, scale); least == nil || x.Cmp(least) < 0 {
				least = x
			}
		}
	}
	return least
}

// literalMost returns x, or the limit of the job if that is smaller.
func literalMost(job fluid.Job, x *big.Rat) *big.Rat {
	if job.MaxTasks != nil && job.MaxTasks.Cmp(x) < 0 {
		return new(big.Rat).Set(job.MaxTasks)
	}
	return x
}

func newLiteralAudit(p *fluid.Pool, tasks []*big.Rat, tol *big.Rat) literalAudit {
	one := big.NewRat(1, 1)
	above := func(x, y *big.Rat) bool { return x.Cmp(new(big.Rat).Mul(new(big.Rat).Add(one, tol), y)) > 0 }
	l := literalAudit{bottlenecks: make([][]int, len(tasks)), growth: new(big.Rat), shortfall: one, envy: one}
	weight, total := make([]*big.Rat, len(tasks)), new(big.Rat)
	for i, job := range p.Jobs {
		l.held, l.need = append(l.held, nil), append(l.need, nil)
		for j, r := range p.Resources {
			l.need[i] = append(l.need[i], new(big.Rat).Quo(job.Demand.Of(j), r.Capacity))
			l.held[i] = append(l.held[i], new(big.Rat).Mul(tasks[i], l.need[i][j]))
		}
		weight[i] = job.WeightOf()
		total.Add(total, new(big.Rat).Mul(weight[i], big.NewRat(int64(job.Size()), 1)))
	}
	var room, whole []*big.Rat
	full := make([]bool, len(p.Resources))
	for j := range p.Resources {
		used := new(big.Rat)
		for i, job := range p.Jobs {
			used.Add(used, new(big.Rat).Mul(l.held[i][j], big.NewRat(int64(job.Size()), 1)))
		}
		l.used, room, whole = append(l.used, used), append(room, new(big.Rat).Sub(one, used)), append(whole, one)
		if full[j] = !above(one, used); full[j] {
			l.saturated = append(l.saturated, j)
		}
	}
	for i, x := range tasks {
		canGrow := p.Jobs[i].MaxTasks == nil || above(p.Jobs[i].MaxTasks, x)
		dominant := new(big.Rat)
		for j, a := range l.need[i] {
			canGrow = canGrow && !(full[j] && a.Sign() > 0)
			if a.Cmp(dominant) > 0 {
				dominant = a
			}
			largest := full[j] && l.held[i][j].Sign() > 0
			for k := range tasks {
				mine, theirs := new(big.Rat).Quo(l.held[i][j], weight[i]), new(big.Rat).Quo(l.held[k][j], weight[k])
				largest = largest && !above(theirs, mine)
			}
			if largest {
				l.bottlenecks[i] = append(l.bottlenecks[i], j)
			}
		}
		if canGrow {
			g := literalMost(p.Jobs[i], new(big.Rat).Add(x, literalRuns(room, l.need[i], one)))
			if g.Mul(g.Sub(g, x), dominant); g.Cmp(l.growth) > 0 {
				l.growth = g
			}
		}
		split := literalMost(p.Jobs[i], literalRuns(whole, l.need[i], new(big.Rat).Quo(weight[i], total)))
		if r := new(big.Rat).Quo(x, split); above(split, x) && r.Cmp(l.shortfall) < 0 {
			l.shortfall = r
		}
		for k := range tasks {
			with := literalMost(p.Jobs[i], literalRuns(l.held[k], l.need[i], new(big.Rat).Quo(weight[i], weight[k])))
			switch {
			case l.envy == nil || !above(with, x):
			case x.Sign() == 0:
				l.envy = nil
			default:
				if r := with.Quo(with, x); r.Cmp(l.envy) > 0 {
					l.envy = r
				}
			}
		}
	}
	return l
}

// agrees compares a report and its witnesses with the definitions.
func (l literalAudit) agrees(t *rapid.T, p *fluid.Pool, tasks []*big.Rat, tol *big.Rat, r *Report) {
	one := big.NewRat(1, 1)
	for _, same := range []struct{ want, got any }{
		{l.used, r.Utilization}, {l.saturated, r.Saturated}, {l.bottlenecks, r.Bottlenecks},
	} {
		if diff := cmp.Diff(same.want, same.got, sameRat); diff != "" {
			t.Fatalf("-want +got: %s", diff)
		}
	}
	_, most := ratExtremes(l.used)
	if want := most.Cmp(new(big.Rat).Add(one, tol)) > 0; (r.Overload != nil) != want ||
		want && r.Overload.Utilization.Cmp(most) != 0 {
		t.Fatalf("overload %v, want %v", r.Overload, most)
	}
	over := one // largest ratio to a limit
	for i, job := range p.Jobs {
		if job.MaxTasks == nil {
			continue
		}
		ratio := new(big.Rat).Quo(tasks[i], job.MaxTasks)
		if ratio.Cmp(over) > 0 {
			over = ratio
		}
		if atLimit := job.MaxTasks.Cmp(new(big.Rat).Mul(new(big.Rat).Add(one, tol), tasks[i])) <= 0; slices.Contains(
			r.AtLimit, i,
		) != atLimit ||
			atLimit && slices.Contains(r.NoBottleneck, i) {
			t.Fatalf("row %d at its limit: %v; %v, %v", i, atLimit, r.AtLimit, r.NoBottleneck)
		}
	}
	if want := over.Cmp(new(big.Rat).Add(one, tol)) > 0; (r.OverLimit != nil) != want ||
		want && new(big.Rat).Quo(r.OverLimit.Tasks, r.OverLimit.Limit).Cmp(over) != 0 {
		t.Fatalf("over limit %v, want %v", r.OverLimit, over)
	}
	if (r.Growth != nil) != (l.growth.Sign() > 0) {
		t.Fatalf("growth %v, want %v", r.Growth, l.growth)
	}
	if r.Growth != nil {
		_, dominant := ratExtremes(l.need[r.Growth.Job])
		if g := new(big.Rat).Mul(r.Growth.Tasks, dominant); g.Cmp(l.growth) != 0 {
			t.Fatalf("dominant share grows by %v, want %v", g, l.growth)
		}
	}
	if (r.Shortfall != nil) != (l.shortfall.Cmp(one) < 0) {
		t.Fatalf("shortfall %v, want %v", r.Shortfall, l.shortfall)
	}
	if r.Shortfall != nil {
		if s := new(big.Rat).Quo(r.Shortfall.Share, r.Shortfall.Split); s.Cmp(l.shortfall) != 0 {
			t.Fatalf("shortfall %v, want %v", s, l.shortfall)
		}
	}
	if (r.Envy != nil) != (l.envy == nil || l.envy.Cmp(one) > 0) {
		t.Fatalf("envy %v, want %v", r.Envy, l.envy)
	}
	if r.Envy != nil {
		i, k := r.Envy.Job, r.Envy.Other
		with := literalMost(
			p.Jobs[i], literalRuns(l.held[k], l.need[i], new(big.Rat).Quo(p.Jobs[i].WeightOf(), p.Jobs[k].WeightOf())),
		)
		if r.Envy.WithOther.Cmp(with) != 0 || r.Envy.Tasks.Cmp(tasks[i]) != 0 ||
			(l.envy == nil) != (tasks[i].Sign() == 0) {
			t.Fatalf("envy %v, want %v", r.Envy, l.envy)
		}
		if l.envy != nil && with.Quo(with, tasks[i]).Cmp(l.envy) != 0 { // short ratios differ by more than rounding
			t.Fatalf("envy %v, want %v", with, l.envy)
		}
	}
}

// The report agrees with the definitions for all kinds of allocations, with and without a
// tolerance.
func TestAuditDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t, 6, 4, true, true)
		tasks := make([]*big.Rat, len(p.Jobs))
		for i := range tasks {
			tasks[i] = big.NewRat(rapid.Int64Range(0, 6).Draw(t, "tasks"), rapid.Int64Range(1, 3).Draw(t, "over"))
			if rapid.IntRange(0, 2).Draw(t, "limited") == 0 {
				p.Jobs[i].MaxTasks = big.NewRat(
					rapid.Int64Range(1, 6).Draw(t, "limit"), rapid.Int64Range(1, 3).Draw(t, "over"),
				)
			}
		}
		tol := big.NewRat(rapid.Int64Range(0, 2).Draw(t, "tol"), 4)
		l := newLiteralAudit(p, tasks, tol)
		// saturate a resource
		if _, most := ratExtremes(l.used); most.Sign() > 0 && rapid.IntRange(0, 3).Draw(t, "fill") > 0 {
			for i := range tasks {
				tasks[i].Quo(tasks[i], most)
			}
			l = newLiteralAudit(p, tasks, tol)
		}
		r, err := Audit(context.Background(), p, tasks, tol)
		if err != nil {
			t.Fatal(err)
		}
		l.agrees(t, p, tasks, tol, r)
	})
}

// lengthen multiplies the demands of each row by a number of many bits near 1 and divides its tasks
// by it, which does not change what the jobs hold.
func lengthen(p *fluid.Pool, tasks []*big.Rat, bits uint) (*fluid.Pool, []*big.Rat) {
	q, fewer := &fluid.Pool{Resources: p.Resources}, make([]*big.Rat, len(tasks))
	for i, job := range p.Jobs {
		long := new(big.Int).Lsh(big.NewInt(1), bits)
		factor := new(big.Rat).SetFrac(
			new(big.Int).Add(long, big.NewInt(int64(2*i+3))), new(big.Int).Add(long, big.NewInt(int64(2*i+1))),
		)
		job.Demand = fullDemand(p, i)
		for j, a := range job.Demand {
			job.Demand[j] = new(big.Rat).Mul(a, factor)
		}
		q.Jobs = append(q.Jobs, job)
		fewer[i] = new(big.Rat).Quo(tasks[i], factor)
	}
	return q, fewer
}

// roundsTo reports whether x is within a factor 1 ± 2^-90 of y. The error of a report is 2^-100, or
// 2^-100/(1-u), where 1 - u is at least 2^-10 for short fractions.
func roundsTo(x, y *big.Rat) bool {
	d := new(big.Rat).Sub(x, y)
	return d.Abs(d).Cmp(new(big.Rat).Mul(y, new(big.Rat).SetFloat64(0x1p-90))) <= 0
}

// sameEnvy reports whether two witnesses are equivalent: their ratios, compared in float64, agree
// to 1e-12.
func sameEnvy(x, y *Envy) bool {
	if x == nil || y == nil {
		return false
	}
	if x.Tasks.Sign() == 0 || y.Tasks.Sign() == 0 {
		return x.Tasks.Sign() == y.Tasks.Sign()
	}
	a, _ := new(big.Rat).Quo(x.WithOther, x.Tasks).Float64()
	b, _ := new(big.Rat).Quo(y.WithOther, y.Tasks).Float64()
	return math.Abs(a-b) <= 1e-12*a
}

// sameGrowth reports whether two witnesses are equivalent: their dominant shares can grow by the
// same amount, compared in float64, to 1e-12.
func sameGrowth(dominant []*big.Rat, x, y *Growth) bool {
	if x == nil || y == nil {
		return false
	}
	a, _ := new(big.Rat).Mul(x.Tasks, dominant[x.Job]).Float64()
	b, _ := new(big.Rat).Mul(y.Tasks, dominant[y.Job]).Float64()
	return math.Abs(a-b) <= 1e-12*a
}

// sameShortfall reports whether two witnesses are equivalent: their shares are the same fraction of
// an equal split, compared in float64, to 1e-12.
func sameShortfall(x, y *Shortfall) bool {
	if x == nil || y == nil {
		return false
	}
	a, _ := new(big.Rat).Quo(x.Share, x.Split).Float64()
	b, _ := new(big.Rat).Quo(y.Share, y.Split).Float64()
	return math.Abs(a-b) <= 1e-12*a
}

// Rounded numbers give the same conclusions as fractions, or none. Holdings of short fractions are
// often equal, or differ by exactly the tolerance of a quarter, and then rounded numbers must give
// none.
func TestAuditRounded(t *testing.T) {
	concluded, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t, 6, 4, true, true)
		tasks := make([]*big.Rat, len(p.Jobs))
		for i := range tasks {
			tasks[i] = big.NewRat(rapid.Int64Range(0, 6).Draw(t, "tasks"), rapid.Int64Range(1, 90).Draw(t, "over"))
		}
		more := big.NewRat(rapid.Int64Range(10, 13).Draw(t, "more"), 10)
		p, tasks = lengthen(p, tasks, 300)
		e := fluid.NewProfiles(p)
		want, _ := newHoldings(e, tasks).report(context.Background(), more)
		got, _ := roundedReport(context.Background(), e, tasks, more)
		if more.IsInt() && got != nil {
			t.Fatal("a report without tolerance")
		}
		if got == nil {
			left++
			return
		}
		concluded++
		if sameEnvy(want.Envy, got.Envy) {
			got.Envy = want.Envy
		}
		if sameShortfall(want.Shortfall, got.Shortfall) && want.Shortfall.Job != got.Shortfall.Job {
			got.Shortfall = want.Shortfall
		}
		if sameGrowth(e.Dominant, want.Growth, got.Growth) && want.Growth.Job != got.Growth.Job {
			got.Growth = want.Growth
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(x, y *big.Rat) bool { return roundsTo(x, y) })); diff != "" {
			t.Fatalf("-want +got: %s", diff)
		}
	})
	if concluded < 10 || left < 3 {
		t.Errorf("%d reports from rounded numbers, %d not", concluded, left)
	}
}

// Utilizations slightly above, slightly below and equal to the tolerance are distinguished,
// although rounding does not distinguish them.
func TestAuditHair(t *testing.T) {
	tol := num.Rat("1/8")
	for hair, want := range map[int64]bool{-1: false, 0: false, 1: true} {
		p := &fluid.Pool{
			Resources: []fluid.Resource{{Name: "r", Capacity: num.Rat("1")}},
			Jobs:      []fluid.Job{{Name: "a", Demand: oracle.Rats("1")}},
		}
		long := new(big.Int).Lsh(big.NewInt(hair), 4)
		x := new(big.Rat).SetFrac(long, new(big.Int).Lsh(big.NewInt(1), 12_000))
		tasks := []*big.Rat{x.Add(x, num.Rat("9/8"))}
		e := fluid.NewProfiles(p)
		if r, _ := roundedReport(context.Background(), e, tasks, num.Rat("9/8")); r != nil {
			t.Error("a report from rounded numbers")
		}
		r, err := Audit(context.Background(), p, tasks, tol)
		if err != nil || (r.Overload != nil) != want {
			t.Errorf("hair %d: %v, %v", hair, r, err)
		}
	}
}

// longPool returns a pool of long fractions without common denominators.
func longPool(rows, resources, bits int) *fluid.Pool {
	random := rand.New(rand.NewPCG(7, 8))
	draw := func() *big.Rat {
		part := func() *big.Int {
			words := make([]big.Word, bits/strconv.IntSize)
			for i := range words {
				words[i] = big.Word(random.Uint64() | 1)
			}
			return new(big.Int).SetBits(words)
		}
		return new(big.Rat).SetFrac(part(), part())
	}
	p := new(fluid.Pool)
	for j := range resources {
		p.Resources = append(p.Resources, fluid.Resource{Name: fmt.Sprint("r", j), Capacity: draw()})
	}
	for i := range rows {
		job := fluid.Job{Name: fmt.Sprint("j", i)}
		for range resources {
			job.Demand = append(job.Demand, draw())
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

// Auto, Audit and Indices avoid fractions that would take long, and their answers satisfy the
// theorems.
func TestLongFractions(t *testing.T) {
	for _, p := range []*fluid.Pool{longPool(60, 4, 1024), longPool(4, 3, 12_288), floatPool(1000, 8)} {
		a := mustAllocate(t, p, fluid.DRF)
		if a.Engine != num.Float {
			t.Errorf("%d rows: engine %s, want float", len(p.Jobs), a.Engine)
		}
		// Allocate has an error of 1e-9
		if _, text := wrongs(t, p, a.TaskFractions(), big.NewRat(1, 100_000_000)); text != "" {
			t.Errorf("%d rows: %s", len(p.Jobs), text)
		}
		if len(p.Jobs) == 1000 {
			continue // sums of multiples of powers of 2 are short
		}
		x, err := Indices(context.Background(), p, a.TaskFractions())
		if err != nil {
			t.Fatal(err)
		}
		if x.MeanUtilization.Low == nil || x.MeanUtilization.Exact != nil {
			t.Errorf("%d rows: indices in fractions", len(p.Jobs))
		}
		if !(math.Abs(x.LargestUtilization.Float-1) <= 1e-8) || x.DominantEfficiency.Float > 1+1e-8 ||
			x.JainIndex.Float > 1+1e-8 {
			t.Errorf("%d rows: %+v", len(p.Jobs), x)
		}
	}
}

// floatPool returns a pool of numbers that come from float64.
func floatPool(rows, resources int) *fluid.Pool {
	random := rand.New(rand.NewPCG(9, 10))
	p := manyJobs(rows, resources)
	for i := range p.Jobs {
		for j := range p.Jobs[i].Demand {
			p.Jobs[i].Demand[j].SetFloat64(random.Float64() + 1e-3)
		}
	}
	return p
}

// wrongs lists the properties that an exact allocation lacks.
func wrongs(t rapid.TB, p *fluid.Pool, tasks []*big.Rat, tol *big.Rat) (r *Report, text string) {
	t.Helper()
	r, err := Audit(context.Background(), p, tasks, tol)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		name  string
		wrong bool
	}{
		{"overload ", r.Overload != nil}, {"over limit ", r.OverLimit != nil}, {"growth ", r.Growth != nil},
		{"shortfall ", r.Shortfall != nil}, {"envy ", r.Envy != nil},
	} {
		if w.wrong {
			text += w.name
		}
	}
	return r, text
}

// All policies are feasible. Dominant resource fairness and bottleneck max fairness are Pareto
// efficient and envy-free and give a sharing incentive, and so does proportional fairness, the
// competitive equilibrium of equal incomes by weight. Max-min fairness is Pareto efficient, and
// balanced fairness has the other two properties. Every job has a bottleneck under bottleneck max
// fairness. The same holds with limits on tasks, with one exception: balanced fairness divides what
// a limit leaves among all jobs that may be present, so it can give less than a split by weight,
// and cause envy.
func TestAuditTheorems(t *testing.T) {
	for _, test := range []struct {
		policy  fluid.Policy
		allowed []string
	}{
		{fluid.DRF, []string{""}},
		{fluid.PF, []string{""}},
		{fluid.BMF, []string{""}},
		{fluid.MaxMin, []string{"", "shortfall ", "envy ", "shortfall envy "}},
		{fluid.BF, []string{"", "growth "}},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				p := drawPool(rt, 6, 4, test.policy != fluid.BF, true)
				allowed := test.allowed
				if rapid.Bool().Draw(rt, "limits") {
					for i := range p.Jobs {
						if rapid.Bool().Draw(rt, "limited") {
							p.Jobs[i].MaxTasks = big.NewRat(
								rapid.Int64Range(1, 12).Draw(rt, "limit"), rapid.Int64Range(1, 4).Draw(rt, "over"),
							)
						}
					}
					if test.policy == fluid.BF {
						allowed = []string{
							"", "growth ", "shortfall ", "growth shortfall ", "envy ", "growth envy ",
							"shortfall envy ", "growth shortfall envy ",
						}
					}
				}
				a, err := fluid.Allocate(context.Background(), p, test.policy, fluid.Settings{})
				if err != nil {
					rt.Fatal(err)
				}
				r, text := wrongs(rt, p, a.TaskFractions(), a.Tolerance())
				found := false
				for _, s := range allowed {
					found = found || s == text
				}
				if !found {
					rt.Fatalf("%s: %+v", text, r)
				}
				if test.policy == fluid.BMF && r.NoBottleneck != nil {
					rt.Fatalf("rows %v have no bottleneck", r.NoBottleneck)
				}
				for j, res := range a.Resources {
					// Allocate has an error of 1e-9
					if f, _ := r.Utilization[j].Float64(); !(math.Abs(f-res.Utilization.Float) <= 1e-8) {
						rt.Fatalf("utilization %v, want %v", f, res.Utilization.Float)
					}
				}
			})
		})
	}
}

// Max-min fairness runs 1/11 of a task of each job. Tasks of one are ten times as large, so the
// small job holds 1/11.
func TestMaxMinShortfall(t *testing.T) {
	p := &fluid.Pool{
		Resources: []fluid.Resource{{Name: "r", Capacity: num.Rat("1")}},
		Jobs:      []fluid.Job{{Name: "small", Demand: oracle.Rats("1")}, {Name: "large", Demand: oracle.Rats("10")}},
	}
	a, err := fluid.Allocate(context.Background(), p, fluid.MaxMin, fluid.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	r, text := wrongs(t, p, a.TaskFractions(), nil)
	if text != "shortfall envy " {
		t.Fatalf("failures %q, want shortfall and envy", text)
	}
	if diff := cmp.Diff(&Shortfall{0, num.Rat("1/11"), num.Rat("1/2")}, r.Shortfall, sameRat); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&Envy{0, 1, num.Rat("1/11"), num.Rat("10/11")}, r.Envy, sameRat); diff != "" {
		t.Error(diff)
	}
}

// For balanced fairness of jobs with the profiles (1, 1, 0), (1, 0, 2) and (0, 1, 0), Φ = 1, 2, 1
// for one job, 3 for the first two, 2 for the other pairs, and Φ = max(2 + 2, 2 + 3, 2·2) = 5 for
// all. The second job runs 2/5 of a task and could run 1/10 more.
func TestBalancedIsNotEfficient(t *testing.T) {
	one := num.Rat("1")
	p := &fluid.Pool{
		Resources: []fluid.Resource{{Name: "r", Capacity: one}, {Name: "s", Capacity: one}, {Name: "u", Capacity: one}},
		Jobs: []fluid.Job{
			{Name: "a", Demand: oracle.Rats("1 1")}, {Name: "b", Demand: oracle.Rats("1 0 2")},
			{Name: "c", Demand: oracle.Rats("0 1")},
		},
	}
	tasks := mustAllocate(t, p, fluid.BF).TaskFractions()
	if diff := cmp.Diff(oracle.Rats("2/5 2/5 3/5"), tasks, sameRat); diff != "" {
		t.Error(diff)
	}
	r, text := wrongs(t, p, tasks, nil)
	if diff := cmp.Diff(&Growth{1, num.Rat("1/10")}, r.Growth, sameRat); diff != "" || text != "growth " {
		t.Error(text, diff)
	}
}

// The error names each invalid entry.
func TestAuditBadInput(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(p *fluid.Pool, tasks *[]*big.Rat, tol **big.Rat)
		path  string
	}{
		{"few tasks", func(_ *fluid.Pool, tasks *[]*big.Rat, _ **big.Rat) { *tasks = (*tasks)[:1] }, "tasks"},
		{"many tasks", func(_ *fluid.Pool, tasks *[]*big.Rat, _ **big.Rat) { *tasks = oracle.Rats("1 1 1") }, "tasks"},
		{"nil", func(_ *fluid.Pool, tasks *[]*big.Rat, _ **big.Rat) { (*tasks)[1] = nil }, "tasks[1]"},
		{
			"negative", func(_ *fluid.Pool, tasks *[]*big.Rat, _ **big.Rat) { (*tasks)[0] = num.Rat("-1/1000") },
			"tasks[0]",
		},
		{"negative tolerance", func(_ *fluid.Pool, _ *[]*big.Rat, tol **big.Rat) { *tol = num.Rat("-1/9") }, "tol"},
		{"tolerance of 1", func(_ *fluid.Pool, _ *[]*big.Rat, tol **big.Rat) { *tol = num.Rat("1") }, "tol"},
		{
			"pool", func(p *fluid.Pool, _ *[]*big.Rat, _ **big.Rat) { p.Jobs[1].Demand[0] = num.Rat("-1") },
			"jobs[1].demand.cpu",
		},
	} {
		p, tasks, tol := classicPool(), oracle.Rats("3 2"), new(big.Rat)
		test.spoil(p, &tasks, &tol)
		_, err := Audit(context.Background(), p, tasks, tol)
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != test.path {
			t.Errorf("%s: %v, want an error at %s", test.name, err, test.path)
		}
		if _, err = Indices(context.Background(), p, tasks); test.path != "tol" &&
			(!errors.As(err, &bad) || bad.Path != test.path) {
			t.Errorf("indices, %s: %v, want an error at %s", test.name, err, test.path)
		}
	}
}

// manyJobs returns a pool of rows with short fractions.
func manyJobs(rows, resources int) *fluid.Pool {
	random := rand.New(rand.NewPCG(5, 6))
	p := new(fluid.Pool)
	for j := range resources {
		p.Resources = append(p.Resources, fluid.Resource{Name: fmt.Sprint("r", j), Capacity: big.NewRat(1000, 1)})
	}
	for i := range rows {
		job := fluid.Job{Name: fmt.Sprint("j", i)}
		for range resources {
			job.Demand = append(job.Demand, big.NewRat(1+random.Int64N(99), 10))
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

func BenchmarkAudit(b *testing.B) {
	for _, test := range []struct {
		name string
		pool *fluid.Pool
	}{
		{"classes=10/resources=4/policy=drf/of=tenths", manyJobs(10, 4)},
		{"classes=1000/resources=4/policy=drf/of=tenths", manyJobs(1000, 4)},
		{"classes=1000/resources=8/policy=drf/of=floats", floatPool(1000, 8)},
		{"classes=10/resources=3/policy=drf/of=16384bits", longPool(10, 3, 16_384)},
	} {
		a, err := fluid.Allocate(context.Background(), test.pool, fluid.DRF, fluid.Settings{})
		if err != nil {
			b.Fatal(err)
		}
		tasks, tol := a.TaskFractions(), big.NewRat(1, 1_000_000_000)
		b.Run(test.name+"/do=allocate", func(b *testing.B) {
			for b.Loop() {
				if _, err := fluid.Allocate(context.Background(), test.pool, fluid.DRF, fluid.Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(test.name+"/do=audit", func(b *testing.B) {
			for b.Loop() {
				if _, err := Audit(context.Background(), test.pool, tasks, tol); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(test.name+"/do=indices", func(b *testing.B) {
			for b.Loop() {
				if _, err := Indices(context.Background(), test.pool, tasks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Audits, indices and searches for lies check the context while they work, and return its error.
func TestAuditEnds(t *testing.T) {
	p := manyJobs(20, 3)
	tasks := mustAllocate(t, p, fluid.MaxMin).TaskFractions()
	for name, work := range map[string]func(ctx context.Context) error{
		"audit":   func(ctx context.Context) error { _, err := Audit(ctx, p, tasks, nil); return err },
		"indices": func(ctx context.Context) error { _, err := Indices(ctx, p, tasks); return err },
		"lie": func(ctx context.Context) error {
			_, err := BestLie(ctx, p, fluid.MaxMin, 0, LieSettings{Evaluations: 50})
			return err
		},
	} {
		asked := oracle.NewCountdown(1 << 30)
		if err := work(asked); err != nil {
			t.Fatal(err)
		}
		questions := asked.Asked()
		if questions < 2 {
			t.Errorf("%s: %d checks of the context, want at least 2", name, questions)
		}
		for part := range min(questions, 50) {
			left := part * questions / min(questions, 50)
			if err := work(oracle.NewCountdown(left)); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, cancelled at check %d of %d: %v", name, left+1, questions, err)
			}
		}
	}
}
