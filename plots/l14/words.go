package l14

import (
	"embed"
	"fmt"

	"productform/plots"
)

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

// words returns the data for texts about samples, to which figures add their own.
func (s *benchmark) words() map[string]any {
	return map[string]any{
		"Sampling": s.sampling, "Samples": len(s.seeds),
		"Seeds":  fmt.Sprintf("seeds %d to %d", s.seeds[0], s.seeds[len(s.seeds)-1]),
		"Usable": s.usable, "Log": plots.LogName, "LogWords": plots.LogWords, "Resamples": resamples,
		"BootstrapSeed": bootstrapSeed,
	}
}

// policyAxis is a horizontal axis with one position per policy.
func policyAxis() plots.Axis {
	var names []string
	for _, c := range comparedPolicies() {
		names = append(names, c.label)
	}
	return plots.Axis{Quantity: "policy", Min: 0.5, Max: float64(len(names)) + 0.7, Categories: names}
}

func rateAxis(planned bool) plots.Axis {
	if planned {
		return plots.Axis{Quantity: "violation rate by the plan"}
	}
	return plots.Axis{Quantity: "violation rate by running tasks"}
}

func penaltyAxis(scale plots.Scale) plots.Axis {
	return plots.Axis{Quantity: "penalty for missed deadlines", Unit: "priority × s", Scale: scale}
}
