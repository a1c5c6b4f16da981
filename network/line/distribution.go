package line

import (
	"math/big"
	"slices"
	"strconv"

	"productform/internal/file"
	"productform/internal/input"
)

const wantService = `a distribution such as {"type": "Exp", "params": {"lambda": 2}}, Disabled, or, ` +
	`where only the mean matters, one of Det, Erlang, HyperExp, Coxian, APH, PH, Uniform, Pareto ` +
	`(by their parameters or a fit), Gamma, Lognormal, Weibull (by a fit)`

// A family holds the parameters of a type of distribution, and a function that computes the mean
// from them.
type family struct {
	fields []string
	mean   func(f map[string]*file.Node, path string) (*big.Rat, error)
}

// familyOf returns the family of a type. The function mean is nil if the mean is irrational, and
// for Gamma, whose beta is a rate in some versions of LINE and a scale in others.
func familyOf(kind string) (l family, ok bool) {
	switch kind {
	case "Exp":
		return family{[]string{"lambda"}, meanOfExp}, true
	case "Det":
		return family{[]string{"value"}, meanOfDet}, true
	case "Erlang":
		return family{[]string{"lambda", "k"}, meanOfErlang}, true
	case "HyperExp":
		return family{[]string{"p", "lambda"}, meanOfHyperExp}, true
	case "Coxian":
		return family{[]string{"mu", "phi"}, meanOfCoxian}, true
	case "APH", "PH":
		return family{[]string{"alpha", "T"}, meanOfPhases}, true
	case "Uniform":
		return family{[]string{"a", "b"}, meanOfUniform}, true
	case "Pareto":
		return family{[]string{"alpha", "scale"}, meanOfPareto}, true
	case "Gamma", "Lognormal", "Weibull":
		return family{}, true
	}
	return family{}, false
}

// distribution returns the mean of a distribution, nil if it is disabled.
func distribution(n *file.Node, path string) (mean *big.Rat, exponential bool, err error) {
	f, err := n.Fields(path, wantService, "type", "params", "fit", "ph")
	if err != nil {
		return nil, false, err
	}
	if f["type"] == nil || f["type"].Kind != file.TextKind {
		return nil, false, input.Errorf(path+".type", shown(f["type"]), wantService)
	}
	kind := f["type"].Text
	if kind == "Disabled" {
		return nil, false, nil
	}
	l, ok := familyOf(kind)
	if !ok {
		return nil, false, input.Errorf(path+".type", f["type"], wantService)
	}
	given := "params"
	if kind == "APH" || kind == "PH" {
		given = "ph"
	}
	if f["fit"] != nil && len(n.Keys) == 2 {
		mean, err = meanOfFit(f["fit"], path+".fit", kind)
		return mean, kind == "Exp", err
	}
	if l.mean == nil {
		return nil, false, input.Errorf(path, n,
			"a fit with a mean: parameters of %s are not supported", kind)
	}
	if f[given] == nil || len(n.Keys) != 2 {
		return nil, false, input.Errorf(path, n, wantService)
	}
	path += "." + given
	g, err := f[given].Fields(path, "an object with "+l.fields[0], l.fields...)
	if err != nil {
		return nil, false, err
	}
	mean, err = l.mean(g, path)
	return mean, kind == "Exp", err
}

// meanOfFit returns the mean of a fit. Stations that accept it ignore its other moments.
func meanOfFit(n *file.Node, path, kind string) (*big.Rat, error) {
	f, err := n.Fields(path, "an object with method and mean", "method", "mean", "scv", "order")
	if err != nil {
		return nil, err
	}
	method := f["method"]
	if kind == "Exp" || kind == "Det" {
		err = isText(method, path+".method", "fitMean")
	} else if method == nil || !slices.Contains([]string{"fitMean", "fitMeanAndSCV", "fitMeanAndOrder"}, method.Text) {
		err = input.Errorf(path+".method", shown(method), "fitMean, fitMeanAndSCV or fitMeanAndOrder")
	}
	if err != nil {
		return nil, err
	}
	return positive(f["mean"], path+".mean")
}

func meanOfExp(f map[string]*file.Node, path string) (*big.Rat, error) {
	rate, err := positive(f["lambda"], path+".lambda")
	if err != nil {
		return nil, err
	}
	return rate.Inv(rate), nil
}

func meanOfDet(f map[string]*file.Node, path string) (*big.Rat, error) {
	return positive(f["value"], path+".value")
}

func meanOfErlang(f map[string]*file.Node, path string) (*big.Rat, error) {
	mean, err := meanOfExp(f, path) // mean of one phase
	if err != nil {
		return nil, err
	}
	const most = 1_000_000
	if f["k"] == nil {
		return nil, input.Errorf(path+".k", "", "an integer from 1 to %d", most)
	}
	k, err := f["k"].Integer(path+".k", most, "an integer from 1 to "+strconv.Itoa(most))
	return mean.Mul(mean, big.NewRat(int64(k), 1)), err
}

func meanOfHyperExp(f map[string]*file.Node, path string) (*big.Rat, error) {
	rates, err := readPositives(f["lambda"], path+".lambda", 0)
	if err != nil {
		return nil, err
	}
	probabilities, err := readProbabilities(f["p"], path+".p", len(rates))
	if err != nil {
		return nil, err
	}
	mean := new(big.Rat)
	for k, p := range probabilities {
		mean.Add(mean, p.Quo(p, rates[k]))
	}
	return mean, nil
}

// meanOfCoxian adds the means of the phases, each times the probability of reaching it. phi holds
// the probabilities of ending after each phase.
func meanOfCoxian(f map[string]*file.Node, path string) (*big.Rat, error) {
	rates, err := readPositives(f["mu"], path+".mu", 0)
	if err != nil {
		return nil, err
	}
	ends, err := readRats(f["phi"], path+".phi", len(rates), "a probability, a number in [0, 1]")
	if err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	mean, reached := new(big.Rat), big.NewRat(1, 1)
	for k, phi := range ends {
		at := input.Index(path+".phi", k)
		if phi.Sign() < 0 || phi.Cmp(one) > 0 {
			return nil, input.Errorf(at, phi.RatString(), "a probability, a number in [0, 1]")
		}
		if k == len(ends)-1 && phi.Cmp(one) != 0 {
			return nil, input.Errorf(at, phi.RatString(), "1: the job ends after its last phase")
		}
		mean.Add(mean, new(big.Rat).Quo(reached, rates[k]))
		reached.Mul(reached, new(big.Rat).Sub(one, phi))
	}
	return mean, nil
}

func meanOfUniform(f map[string]*file.Node, path string) (*big.Rat, error) {
	a, err := f["a"].Rat(path+".a", input.Nonnegative)
	if err == nil && a.Sign() < 0 {
		err = input.Errorf(path+".a", a.RatString(), input.Nonnegative)
	}
	if err != nil {
		return nil, err
	}
	b, err := positive(f["b"], path+".b")
	if err == nil && b.Cmp(a) < 0 {
		err = input.Errorf(path+".b", b.RatString(), "at least a = %s", a.RatString())
	}
	if err != nil {
		return nil, err
	}
	return b.Mul(b.Add(a, b), big.NewRat(1, 2)), nil
}

func meanOfPareto(f map[string]*file.Node, path string) (*big.Rat, error) {
	alpha, err := positive(f["alpha"], path+".alpha")
	less := new(big.Rat)
	if err == nil && less.Sub(alpha, big.NewRat(1, 1)).Sign() <= 0 {
		err = input.Errorf(path+".alpha", alpha.RatString(), "a number > 1, which gives a finite mean")
	}
	if err != nil {
		return nil, err
	}
	scale, err := positive(f["scale"], path+".scale")
	if err != nil {
		return nil, err
	}
	return scale.Mul(scale, alpha.Quo(alpha, less)), nil
}

// mostPhases is the maximum number of phases of APH and PH, whose means take a number of steps
// proportional to its cube.
const mostPhases = 40

// meanOfPhases returns α x for the solution of -T x = 1, by elimination in fractions.
func meanOfPhases(f map[string]*file.Node, path string) (*big.Rat, error) {
	rows, err := readPhases(f["T"], path+".T")
	if err != nil {
		return nil, err
	}
	n := len(rows)
	alpha, err := readProbabilities(f["alpha"], path+".alpha", n)
	if err != nil {
		return nil, err
	}
	for k := range rows { // pivots of such a matrix stay > 0 if every phase can end
		if rows[k][k].Sign() <= 0 {
			return nil, input.Errorf(path+".T", "a matrix of rates", "one in which every phase ends")
		}
		for i := range rows {
			if i == k || rows[i][k].Sign() == 0 {
				continue
			}
			factor := new(big.Rat).Quo(rows[i][k], rows[k][k])
			for j := k; j <= n; j++ {
				rows[i][j].Sub(rows[i][j], new(big.Rat).Mul(factor, rows[k][j]))
			}
		}
	}
	mean := new(big.Rat)
	for k, p := range alpha {
		mean.Add(mean, p.Mul(p, new(big.Rat).Quo(rows[k][n], rows[k][k])))
	}
	return mean, nil
}

// readPhases returns the rows of -T, each with a 1 appended.
func readPhases(n *file.Node, path string) ([][]*big.Rat, error) {
	list, err := n.Elements(path, "an array of rows")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > mostPhases {
		return nil, input.Errorf(path, len(list), "1 to %d rows", mostPhases)
	}
	rows := make([][]*big.Rat, len(list))
	for i := range list {
		at := input.Index(path, i)
		if rows[i], err = readRats(&list[i], at, len(list), "a rate, a number"); err != nil {
			return nil, err
		}
		total := new(big.Rat)
		for j, x := range rows[i] {
			if i != j && x.Sign() < 0 || i == j && x.Sign() >= 0 {
				return nil, input.Errorf(input.Index(at, j), x.RatString(),
					"a rate < 0 on the diagonal, >= 0 elsewhere")
			}
			total.Add(total, x.Neg(x))
		}
		// In LINE, a row that does not end a job has sum 0, but its numbers are rounded float64
		// numbers.
		if slack := new(big.Rat).Mul(rows[i][i], big.NewRat(-1, 1_000_000_000_000)); total.Cmp(slack) < 0 {
			return nil, input.Errorf(at, total.Neg(total).RatString(), "rates with a sum of at most 0")
		}
		rows[i] = append(rows[i], big.NewRat(1, 1))
	}
	return rows, nil
}

// readProbabilities reads probabilities whose sum is 1 up to rounding, and divides them by the sum.
func readProbabilities(n *file.Node, path string, count int) ([]*big.Rat, error) {
	list, err := readRats(n, path, count, "a probability, a number >= 0")
	if err != nil {
		return nil, err
	}
	branches := make([]branch, count)
	for k, p := range list {
		if p.Sign() < 0 {
			return nil, input.Errorf(input.Index(path, k), p.RatString(), "a probability, a number >= 0")
		}
		branches[k].probability = p
	}
	if err := divide(branches, path); err != nil {
		return nil, err
	}
	for k := range list {
		list[k] = branches[k].probability
	}
	return list, nil
}

// readPositives reads count numbers > 0, or any number of them if count is 0.
func readPositives(n *file.Node, path string, count int) ([]*big.Rat, error) {
	list, err := readRats(n, path, count, input.Positive)
	for k, x := range list {
		if err == nil && x.Sign() <= 0 {
			err = input.Errorf(input.Index(path, k), x.RatString(), input.Positive)
		}
	}
	return list, err
}

// readRats reads an array of count numbers, or of any number of them if count is 0.
func readRats(n *file.Node, path string, count int, want string) ([]*big.Rat, error) {
	elements, err := n.Elements(path, "an array of numbers")
	if err != nil {
		return nil, err
	}
	if len(elements) == 0 || count > 0 && len(elements) != count {
		if count == 0 {
			return nil, input.Errorf(path, "[]", "at least one number")
		}
		return nil, input.Errorf(path, len(elements), "%d numbers, one for each phase", count)
	}
	list := make([]*big.Rat, len(elements))
	for k := range elements {
		if list[k], err = elements[k].Rat(input.Index(path, k), want); err != nil {
			return nil, err
		}
	}
	return list, nil
}
