package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// BenchmarkFirstNumbers measures the time from opening the page to its first numbers.
func BenchmarkFirstNumbers(b *testing.B) {
	ctx, cancel := chromedp.NewContext(browser)
	defer cancel()
	total := 0.0
	for b.Loop() {
		if err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(onePage)); err != nil {
			b.Fatal(err)
		}
		ms, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`new Promise((resolve) => {
			const look = () => document.querySelector("[data-cell='all/mean_delay'] data") ?
				resolve(performance.now()) : requestAnimationFrame(look);
			look();
		})`, chromedp.EvalAwaitPromise))
		if err != nil {
			b.Fatal(err)
		}
		total += ms
	}
	b.ReportMetric(total/float64(b.N), "ms/page")
}

// BenchmarkSlider measures the time from a step of a slider to the numbers, including percentiles,
// and to the frame that shows them. Each class runs on three servers, and there are as many servers
// as classes.
func BenchmarkSlider(b *testing.B) {
	for _, classes := range []int{2, 8, 12} {
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			ctx, cancel := chromedp.NewContext(browser)
			defer cancel()
			if err := chromedp.Do(ctx, chromedp.Navigate(onePage)); err != nil {
				b.Fatal(err)
			}
			move := fmt.Sprintf(`(async () => {
				while (!(typeof state === "object" && state.saved.model && answerTo(percentilesOf(state.saved))))
					await new Promise((next) => setTimeout(next, 10));
				const { model } = await answered({ ask: "read", text: %q });
				save({ model });
				await new Promise((next) => setTimeout(next, 2000));
				let steps = 0, numbers = 0, all = 0;
				for (let i = 0; i < 20; i++) {
					const begun = performance.now();
					save({ load: decimalText(0.5 + i / 50) }, "load");
					while (!answerTo(solutionOf(state.saved))) await new Promise((next) => setTimeout(next, 0));
					numbers += performance.now() - begun;
					while (drawing || !answerTo(percentilesOf(state.saved)))
						await new Promise((next) => setTimeout(next, 0));
					all += performance.now() - begun;
				}
				return [numbers / 20, all / 20];
			})()`, ring(classes))
			var means, all float64
			for b.Loop() {
				ms, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](move, chromedp.EvalAwaitPromise))
				if err != nil {
					b.Fatal(err)
				}
				means, all = means+ms[0], all+ms[1]
			}
			b.ReportMetric(means/float64(b.N), "ms/means")
			b.ReportMetric(all/float64(b.N), "ms/percentiles")
		})
	}
}

// ring returns the text of a model with classes that run on three adjacent servers, at a
// load of about 0.8.
func ring(classes int) string {
	var b strings.Builder
	b.WriteString("servers:\n")
	for s := range classes {
		fmt.Fprintf(&b, "  - {name: s%d, capacity: 1.%d}\n", s, s)
	}
	b.WriteString("classes:\n")
	for i := range classes {
		on := map[string]bool{}
		var list []string
		for k := range 3 {
			if name := fmt.Sprintf("s%d", (i+k)%classes); !on[name] {
				on[name], list = true, append(list, name)
			}
		}
		fmt.Fprintf(&b, "  - {name: c%d, arrival_rate: 0.8%d, servers: [%s]}\n", i, i, strings.Join(list, ", "))
	}
	return b.String()
}
