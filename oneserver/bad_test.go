package oneserver

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// TestBadQuestions checks that each error names the field, the value and the valid range.
func TestBadQuestions(t *testing.T) {
	sized := model("1 1", "1/4 1/4", "a", "ab")
	sized.Classes[1].MeanSize = big.NewRat(2, 1)
	all := model("1 1", "1/4 1/4", "a", "ab")
	all.Service = cluster.AllServers
	good := model("1 1", "1/4 1/4", "a", "ab")
	for _, c := range []struct {
		m    *cluster.Model
		q    Question
		s    Settings
		want string
	}{
		{all, Question{}, Settings{}, `service = "all": want one`},
		{sized, Question{}, Settings{}, "classes[1].mean_size = 2: want the mean size of the other classes, as " +
			"one server " +
			"per job has formulas only for exponential sizes with one mean"},
		{model("1", "0.5", "aa"), Question{}, Settings{},
			`classes[0].servers[1] = "a": want each server once; it is already in this class`},
		{good, Question{MaxJobs: -1}, Settings{}, "MaxJobs = -1: want an integer in 0..10000"},
		{good, Question{Levels: []*big.Rat{big.NewRat(1, 1)}}, Settings{},
			"Levels[0] = 1: want a number > 0 and < 1, at most 1 - 2^-150"},
		{good, Question{Times: []*big.Rat{nil}}, Settings{}, "Times[0] = nil: want a number >= 0"},
		{good, Question{Times: oracle.Rats("1")}, Settings{Engine: num.Exact}, "Engine = exact: want auto, float or " +
			"enclose, as quantiles and probabilities of times are not fractions"},
		{good, Question{}, Settings{RelTol: 2}, "RelTol = 2: want a number in (0, 1), or 0 for 1e-9"},
	} {
		_, err := Answer(t.Context(), c.m, c.q, c.s)
		var bad *input.Error
		if !errors.As(err, &bad) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	_, err := Solve(t.Context(), model("1 1", "3/2 1/4", "a", "ab"), Settings{})
	var unstable *cluster.UnstableError
	if !errors.As(err, &unstable) || unstable.Names[0] != "a0" {
		t.Error(err)
	}
	large := &cluster.Model{Service: cluster.OneServer}
	for s := range 30 {
		name := string(rune('A' + s))
		large.Servers = append(large.Servers, cluster.Server{Name: name, Capacity: big.NewRat(int64(s+1), 1)})
		large.Classes = append(large.Classes, cluster.Class{Name: name, ArrivalRate: big.NewRat(1, 10),
			Servers: cluster.On(s, (s+1)%30)})
	}
	var tooLarge *num.TooLargeError
	if _, err := Solve(t.Context(), large, Settings{}); !errors.As(err, &tooLarge) {
		t.Error(err)
	}
}

// TestCancel ends questions at many points.
func TestCancel(t *testing.T) {
	m := &cluster.Model{Service: cluster.OneServer,
		Servers: []cluster.Server{{Name: "a", Count: 40, Capacity: big.NewRat(1, 1)},
			{Name: "b", Count: 30, Capacity: big.NewRat(2, 1)}},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(30, 1), Servers: []cluster.Choice{{Server: 0, Choose: 40}}},
			{Name: "ab", ArrivalRate: big.NewRat(50, 1),
				Servers: []cluster.Choice{{Server: 0, Choose: 3}, {Server: 1, Choose: 30}}},
		}}
	for _, engine := range []num.Engine{num.Float, num.Enclose} {
		q := Question{MaxJobs: 2, Levels: oracle.Rats("0.99")}
		err := oracle.CheckEnds(func(ctx context.Context) error {
			_, err := Answer(ctx, m, q, Settings{Engine: engine})
			return err
		}, 50, 16)
		if err != nil {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

// A delay below the range of float64 is an error of the engine Float, not 0, and Auto encloses it.
func TestTinyDelay(t *testing.T) {
	fast := new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(10), big.NewInt(400), nil), big.NewInt(1))
	m := &cluster.Model{
		Service: cluster.OneServer,
		Servers: []cluster.Server{{Name: "s", Capacity: fast}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0)}},
	}
	if _, err := Solve(t.Context(), m, Settings{Engine: num.Float}); !errors.Is(err, num.ErrFloatRange) {
		t.Error(err)
	}
	r, err := Solve(t.Context(), m, Settings{})
	if err != nil || r.Engine != num.Enclose || r.Classes[0].MeanDelay.Low.Sign() <= 0 {
		t.Errorf("%v, %+v", err, r)
	}
	_, err = Answer(t.Context(), m, Question{Levels: []*big.Rat{big.NewRat(1, 2)}}, Settings{})
	want := "model = a rate of 1e+400 jobs per unit of time: want rates in [1e-300, 1e+300]: count time in other units"
	if err == nil || err.Error() != want {
		t.Errorf("distributions: error %v, want %s", err, want)
	}
}

// An error about times that take too many steps, or leave the range of float64, names the levels or
// the times, whichever need more.
func TestTimesOutOfReach(t *testing.T) {
	pool := oracle.Must(cluster.Read(strings.NewReader("service: one\n" +
		"servers: [{name: s, count: 3, capacity: 1}]\n" +
		"classes: [{name: a, arrival_rate: 2.99999997, servers: [s]}]")))
	wide := oracle.Must(cluster.Read(strings.NewReader("service: one\n" +
		"servers: [{name: s, capacity: 1e-200}, {name: t, capacity: 1e200}]\n" +
		"classes: [{name: a, arrival_rate: 1e-201, servers: [s]}, {name: b, arrival_rate: 1e199, servers: [s, t]}]")))
	half, most := big.NewRat(1, 2), big.NewRat(99, 100)
	for _, c := range []struct {
		m    *cluster.Model
		q    Question
		want string
	}{
		{pool, Question{Levels: []*big.Rat{half, most}},
			"Levels[1] = 99/100: want one that takes at most"},
		{pool, Question{Levels: []*big.Rat{most}, Times: []*big.Rat{half}},
			"Levels[0] = 99/100: want one that takes at most"},
		{pool, Question{Levels: []*big.Rat{half}, Times: []*big.Rat{half, big.NewRat(1e9, 1)}},
			"Times[1] = 1000000000: want one that takes at most"},
		{wide, Question{Levels: []*big.Rat{most}}, "Levels[0] = 99/100: want a model whose distributions of times are"},
		{wide, Question{Times: []*big.Rat{half}}, "Times[0] = 1/2: want a model whose distributions of times are"},
	} {
		for _, engine := range []num.Engine{num.Auto, num.Enclose} {
			_, err := Answer(t.Context(), c.m, c.q, Settings{Engine: engine, MaxBytes: 1 << 22})
			var large *num.TooLargeError
			if c.m == wide && !errors.Is(err, num.ErrFloatRange) || c.m != wide && !errors.As(err, &large) {
				t.Errorf("%v is neither too large nor out of range", err)
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		}
	}
}

// A mean beyond the range of float64 is an error of every engine: near saturation, the mean number
// of waiting jobs exceeds 1e308 though no rate does.
func TestHugeQueue(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(320), nil))
	m := &cluster.Model{
		Service: cluster.OneServer,
		Servers: []cluster.Server{{Name: "s", Capacity: new(big.Rat).Add(big.NewRat(1, 1), tiny)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0)}},
	}
	for _, engine := range []num.Engine{num.Auto, num.Enclose, num.Exact} {
		var bad *num.InputError
		if r, err := Solve(t.Context(), m, Settings{Engine: engine}); !errors.As(err, &bad) || bad.Path != "model" {
			t.Errorf("%v: %+v, error %v", engine, r, err)
		}
	}
}
