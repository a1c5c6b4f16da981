package cluster

import (
	"encoding/binary"
	"math/rand/v2"

	"productform/internal/input"
	"productform/sim"
	"productform/sizes"
)

// An Arrival is a job of a stream of arrivals.
type Arrival struct {
	Time  float64 // since the start of the stream
	Class int     // index in Model.Classes
	Size  float64 // in the unit of the mean sizes of the model
}

// Arrivals draws the first jobs that arrive at a cluster, whatever its policy. Times between
// arrivals are exponential, with the total arrival rate of the classes. The class of each job is
// random with the rates as weights, and its size with the distribution of its class, all
// independent. The same seed gives the same arrivals, and a larger count leaves the first jobs the
// same. The error is a [num.InputError].
func (c Cluster) Arrivals(count int, seed uint64) ([]Arrival, error) {
	if count < 1 {
		return nil, input.Errorf("count", count, "an integer >= 1")
	}
	if c.Model == nil {
		return nil, input.Errorf("Model", "", "a cluster model")
	}
	if err := c.Model.Check(); err != nil {
		return nil, err
	}
	var err error
	if c.Sizes, _, err = sim.SizesOf(c.Sizes, c.Model.MeanSize, "Sizes", "Model.MeanSize"); err != nil {
		return nil, err
	}
	f := &flat{}
	if err := c.addClasses(f); err != nil {
		return nil, err
	}
	var weights []float64
	for _, class := range f.classes {
		weights = append(weights, class.ArrivalRate)
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	stream := sim.NewStream(key)
	draws, table := rand.New(stream), sizes.NewAliasTable(weights, nil)
	list := make([]Arrival, count)
	now := 0.0
	for k := range list {
		now += draws.ExpFloat64() / f.totalRates
		class := int(table.Pick(stream.Uint64()))
		list[k] = Arrival{Time: now, Class: class, Size: f.sizes[class].Sample(draws)}
	}
	return list, nil
}
