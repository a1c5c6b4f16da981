package browser

import (
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sameAs fails unless the page shows pfq's numbers to the last digit, including percentiles if pfq
// has them.
func (p *tab) sameAs(text string) {
	p.Helper()
	var said map[string]any
	p.must(json.Unmarshal([]byte(text), &said))
	rows := map[string]map[string]any{"all": said}
	for _, list := range []string{"classes", "servers"} {
		of, _ := said[list].([]any)
		for _, row := range of {
			row := row.(map[string]any)
			rows[list+"/"+row["name"].(string)] = row
		}
	}
	shown := map[string]bool{} // rows on the page
	cells := eval[map[string]any](p, `(() => {
		const numberOf = (data) => data && Number(data.value);
		const cells = [...document.querySelectorAll("[data-cell]")];
		return Object.fromEntries(cells.map((cell) => [cell.dataset.cell, numberOf(cell.querySelector("data"))]));
	})()`)
	for cell, got := range cells {
		at := strings.LastIndex(cell, "/")
		row, name := cell[:at], cell[at+1:]
		shown[row] = true
		want := rows[row][name]
		switch {
		case name == "within":
			list, asked := rows[row]["within"].([]any)
			if !asked {
				continue
			}
			level := list[0].(map[string]any)
			want = level["waiting"]
			if served, impatient := level["served"]; impatient {
				want = served
			}
		case name[0] == 'p':
			key := "delay"
			if said["service"] == "one" {
				key = "waiting"
			}
			times, asked := rows[row][key].(map[string]any)
			if !asked {
				continue
			}
			want = times[name]
		}
		if got != want && !(said["error_estimate"] != nil && isNear(got, want)) {
			p.Errorf("%s: %v on the page, want %v", cell, got, want)
		}
	}
	for row := range rows {
		if !shown[row] {
			p.Errorf("%s is not on the page", row)
		}
	}
}

// isNear reports whether two numbers agree to 1e-12. Those of jobs that give up are near, not the
// same: they need exponentials, whose last bits depend on the processor.
func isNear(got, want any) bool {
	x, isNumber := got.(float64)
	y, alsoNumber := want.(float64)
	return isNumber && alsoNumber && math.Abs(x-y) <= 1e-12*math.Abs(y)
}

// clusters returns the names of the examples of pfq that the page takes: clusters whose jobs stay
// until they are done or give up.
func clusters(t *testing.T) (names []string) {
	for line := range strings.Lines(run(t, "", "example")) {
		name, _, _ := strings.Cut(line, " ")
		text := run(t, "", "example", name)
		if strings.HasPrefix(text, "#") && !strings.Contains(text, "mean_timeout: ") &&
			exec.Command(pfq, "stability", writeExample(t, name)).Run() == nil {
			names = append(names, name)
		}
	}
	for _, name := range []string{"three-servers", "gpu-pool", "hotline", "training"} { // examples of every service
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing in %v", name, names)
		}
	}
	return names
}

func writeExample(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".yaml")
	run(t, "", "example", name, "--output", file)
	return file
}

// The numbers in the page are those of pfq for every example that is a cluster, at its own load and
// at another, to the last digit. Percentiles are missing only if pfq rejects them or the page
// reports that they take too long.
func TestNumbersMatchPfq(t *testing.T) {
	p := original(t)
	p.numbersOnly()
	seen := 0 // examples with percentiles
	for _, name := range clusters(t) {
		text := run(t, "", "example", name)
		p.open(name+".yaml", text)
		args := []string{"solve", "-", "--format", "json"}
		times := eval[struct{ Percentiles, Within []string }](p, "timesOf(state.saved.model) ?? {}")
		if times.Within != nil {
			args = append(args, "--within", strings.Join(times.Within, ","))
		}
		if why := eval[string](p, `answerTo(percentilesOf(state.saved))?.no_percentiles ?? ""`); why == "" &&
			times.Percentiles != nil {
			args = append(args, "--percentiles", "50,95,99")
			seen++
		} else if times.Percentiles != nil && !strings.Contains(p.text("#tables"), why) ||
			times.Percentiles != nil && !strings.HasSuffix(why, "use pfq beyond that") &&
				!strings.HasSuffix(why, "with a common mean only") {
			t.Errorf("%s: no percentiles: %s", name, why)
		}
		p.sameAs(run(t, text, args...))
		var stability struct {
			CriticalScale *float64 `json:"critical_scale"`
		}
		p.must(json.Unmarshal([]byte(run(t, text, "stability", "-", "--format", "json")), &stability))
		got := eval[*float64](p, "answerTo(verdictOf(state.saved)).critical_load")
		if !reflect.DeepEqual(got, stability.CriticalScale) {
			t.Errorf("%s: critical load %v, want %v", name, got, stability.CriticalScale)
		}
		eval[struct{}](p, `(save({ load: "0.7" }), {})`)
		p.settle()
		var scaled []json.RawMessage
		p.must(json.Unmarshal([]byte(run(t, text, append(args, "--scale", "0.7")...)), &scaled))
		p.sameAs(string(scaled[0]))
	}
	if seen < 3 {
		t.Errorf("only %d examples have percentiles", seen)
	}
}

// The copied line, typed into a shell, gives the numbers of the page: those of theory with
// percentiles, and those of simulation.
func TestLinesGiveTheSameDigits(t *testing.T) {
	p := original(t)
	p.button("pfq line")
	p.wait(`!!document.querySelector("dialog[open]")`)
	line := eval[string](p, `document.getElementById("copied").value`)
	p.sameAs(shell(t, line))
	p.keys("\x1b") // Escape
	p.wait(`!document.querySelector("dialog")`)

	p.brief()
	p.button("Simulate")
	p.wait(`simulations().length === 7 && simulations().every(answerTo)`)
	p.button("pfq line of the simulation")
	p.wait(`!!document.querySelector("dialog[open]")`)
	var simulated struct {
		Classes []struct {
			MeanDelay struct {
				Mean      float64 `json:"mean"`
				HalfWidth float64 `json:"half_width"`
			} `json:"mean_delay"`
		} `json:"classes"`
	}
	p.must(json.Unmarshal([]byte(shell(t, eval[string](p, `document.getElementById("copied").value`))), &simulated))
	found := eval[[]struct {
		MeanDelay struct {
			Mean      float64 `json:"mean"`
			HalfWidth float64 `json:"half_width"`
		} `json:"mean_delay"`
	}](p, `answerTo(simulations()[0]).classes`)
	for i, c := range simulated.Classes {
		if found[i].MeanDelay != c.MeanDelay {
			t.Errorf("class %d: %v simulated on the page, %v by pfq", i, found[i], c)
		}
	}
	if bars := eval[int](p, `document.querySelectorAll("#chart .bars .bar").length`); bars != 14 {
		t.Errorf("%d bars, want 2 at 7 loads", bars)
	}
}

// shell runs a line with pfq in the path and requests JSON.
func shell(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", strings.Replace(line, " - ", " - --format json ", 1))
	cmd.Env = append(cmd.Environ(), "PATH="+folder+":/usr/bin:/bin")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v from\n%s", err, line)
	}
	return string(out)
}
