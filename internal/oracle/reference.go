package oracle

import (
	_ "embed"
	"encoding/json"
	"math/big"

	"productform/cluster"
)

// A Reference is a model with the exact answers of an independent program.
type Reference struct {
	Name   string
	Text   string         // the model as a JSON file
	Model  *cluster.Model // the same model, read by this package
	Expect Expect
}

// Expect holds exact answers, in the order of the rows of the model. The measures are those
// under balanced fairness, nil if the model is not stable.
type Expect struct {
	Stable        bool
	CriticalScale *big.Rat   `json:"critical_scale"` // min_A μ(A)/λ(A)
	Margin        *big.Rat   // min_A μ(A) - λ(A)
	Bottleneck    []string   // names of the classes of a smallest set that attains CriticalScale
	Normalization *big.Rat   // Z
	MeanJobs      []*big.Rat `json:"mean_jobs"`    // E[X_i]
	ServiceRate   []*big.Rat `json:"service_rate"` // λ_i/E[X_i]
	MeanDelay     []*big.Rat `json:"mean_delay"`   // E[X_i]/λ_i
	Utilization   []*big.Rat // P(server s is busy)
}

//go:embed testdata/oi_reference.json
var referenceFile []byte

// ReferenceFile returns testdata/oi_reference.json unchanged, for commands that read models and
// write text.
func ReferenceFile() []byte { return referenceFile }

// References returns the models of testdata/oi_reference.json, all of single servers and of mean
// size 1, two of them unstable.
func References() []Reference {
	var cases []struct {
		Name   string
		Model  json.RawMessage
		Expect Expect
	}
	if err := json.Unmarshal(referenceFile, &cases); err != nil {
		panic(err)
	}
	references := make([]Reference, len(cases))
	for k, c := range cases {
		references[k] = Reference{c.Name, string(c.Model), readModel(c.Model), c.Expect}
	}
	return references
}

func readModel(text []byte) *cluster.Model {
	var file struct {
		Servers []struct {
			Name     string
			Capacity *big.Rat
		}
		Classes []struct {
			Name        string
			ArrivalRate *big.Rat `json:"arrival_rate"`
			Servers     []string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		panic(err)
	}
	m := &cluster.Model{}
	row := make(map[string]int)
	for s, server := range file.Servers {
		row[server.Name] = s
		m.Servers = append(m.Servers, cluster.Server{Name: server.Name, Capacity: server.Capacity})
	}
	for _, class := range file.Classes {
		var on []int
		for _, name := range class.Servers {
			on = append(on, row[name])
		}
		m.Classes = append(m.Classes, cluster.Class{
			Name:        class.Name,
			ArrivalRate: class.ArrivalRate,
			Servers:     cluster.On(on...),
		})
	}
	return m
}
