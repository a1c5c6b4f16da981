package cluster

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/stations"
	"productform/sizes"
)

// maxExpanded is the maximum number of single servers, and of sets of servers that jobs draw, in a
// cluster under processor sharing.
const maxExpanded = 4096

// describeSharing describes a cluster under balanced fairness: a network of processor-sharing
// queues, one for each set of servers that jobs use. Parts of the cluster without common servers
// have independent rates.
func (c Cluster) describeSharing(ctx context.Context, f *flat) (*sim.Description, error) {
	model, serverRow, classRow, err := c.single(f)
	if err != nil {
		return nil, err
	}
	size := num.OrOne(model.EqualSizes().MeanSize)
	net := &stations.Network{Rows: len(f.classes)}
	sourceOf := make([]int, len(model.Classes)) // index + 1
	var arrivalRates []float64
	components, err := model.Reduce(ctx)
	if err != nil {
		return nil, err
	}
	for k, part := range components {
		if n := len(part.Model.Classes); n > stations.MaxClasses {
			return nil, setLimitError(n)
		}
		from := len(net.PartOf)
		for i, rows := range part.Classes {
			for _, row := range rows {
				rate, _ := model.Classes[row].ArrivalRate.Float64()
				arrivalRates = append(arrivalRates, rate)
				net.Sources = append(net.Sources, stations.Source{
					Row:   classRow[row],
					Queue: from + i,
					Sizes: f.sizes[classRow[row]],
				})
				sourceOf[row] = len(net.Sources)
			}
			net.PartOf = append(net.PartOf, k)
			net.MeanSize = append(net.MeanSize, f.sizeOfJob)
		}
		table := stations.NewBalance(len(part.Classes), rank(&part.Model, size))
		rates := func(x []int, phi []float64) error {
			if err := table.Rates(x, phi); err != nil {
				return fmt.Errorf("%w; the policy interrupt with many interruptions comes close to processor sharing",
					err)
			}
			return nil
		}
		net.Parts = append(net.Parts, stations.Part{From: from, To: len(net.PartOf), Rates: rates})
	}
	net.Table, net.Rate = sizes.NewAliasTable(arrivalRates, nil), sim.Sum(arrivalRates)
	watchServers(net, model, serverRow, sourceOf)
	return &sim.Description{
		Classes: f.classes, Servers: f.rows, Identity: f.system, JumpRate: 2 * net.Rate,
		Moments: f.moments(1), StepCost: float64(len(net.MeanSize)) / 2,
		Method: "processor-sharing queues on a calendar of events",
		Start:  func(_ context.Context, r *sim.Stream) sim.Engine { return stations.New(net, r) },
	}, nil
}

// single returns the model with one class per set of servers that jobs draw, and the original rows
// of its servers and classes.
func (c Cluster) single(f *flat) (model *cluster.Model, serverRow, classRow []int, err error) {
	if f.random {
		model, serverRow, classRow, err = c.Model.Expand(maxExpanded)
		if err != nil {
			return nil, nil, nil, fmt.Errorf(
				"processor sharing tracks single servers and all sets of servers that jobs draw; "+
					"the policy interrupt with many interruptions comes close without them: %w",
				err,
			)
		}
		return model, serverRow, classRow, nil
	}
	for k := range c.Model.Servers {
		serverRow = append(serverRow, k)
	}
	for i := range c.Model.Classes {
		classRow = append(classRow, i)
	}
	return c.Model, serverRow, classRow, nil
}

func setLimitError(n int) error {
	return input.Errorf("Policy", fmt.Sprintf("ps with %d sets of servers linked by common ones", n),
		"at most %d of them, or the policy interrupt with many interruptions, which comes close", stations.MaxClasses)
}

// rank returns the rank function of a reduced model of single servers, in units of work; size is
// the mean work of a job.
func rank(m *cluster.Model, size *big.Rat) func(set uint64) float64 {
	users := make([]uint64, len(m.Servers))
	for i, class := range m.Classes {
		for _, choice := range class.Servers {
			users[choice.Server] |= 1 << i
		}
	}
	capacity := make([]float64, len(m.Servers))
	for s, row := range m.Servers {
		work := new(big.Rat).Mul(row.Capacity, size)
		capacity[s], _ = work.Float64()
	}
	return func(set uint64) float64 {
		sum := 0.0
		for s, v := range capacity {
			if users[s]&set != 0 {
				sum += v
			}
		}
		return sum
	}
}

// watchServers records which sources keep which servers busy. Servers used by the same sources are
// watched as one.
func watchServers(net *stations.Network, model *cluster.Model, serverRow, sourceOf []int) {
	users := make([][]byte, len(model.Servers)) // encoded, in the order of the classes
	for row, class := range model.Classes {
		if sourceOf[row] > 0 {
			for _, choice := range class.Servers {
				users[choice.Server] = binary.AppendUvarint(users[choice.Server], uint64(sourceOf[row]-1))
			}
		}
	}
	places := make(map[string]int)
	for s, key := range users {
		if len(key) == 0 {
			continue
		}
		w, known := places[string(key)]
		if !known {
			w = len(net.Watched)
			places[string(key)] = w
			net.Watched = append(net.Watched, nil)
			for rest := key; len(rest) > 0; {
				user, length := binary.Uvarint(rest)
				rest = rest[length:]
				net.Sources[user].Watches = append(net.Sources[user].Watches, w)
			}
		}
		net.Watched[w] = append(net.Watched[w], stations.Row{Row: serverRow[s], Count: model.Servers[s].Size()})
	}
}
