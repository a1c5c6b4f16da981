// The questions of the state, the most urgent first.

const calmTime = 100; // ms without a change after which longer questions are sent
const runs = { runs: 20, jumps: 5e4, seed: 1, percentiles };

const verdictOf = ({ model, load }) => ({ ask: "verdict", model, load });
const solutionOf = ({ model, load }) => ({ ask: "solve", model, load });
const changesOf = (saved) => ({
  ask: "changes", model: saved.model, load: saved.load,
  prices: { servers: saved.model.servers.map(({ name }) => priceOf(saved, name)), connection: saved.prices.connection },
});
const simulationOf = ({ model }, load) => ({ ask: "simulate", model, load, ...runs });

// percentilesOf returns the question about the percentiles of a variant. It is that about its solution if that says why there are none.
function percentilesOf(variant) {
  const means = solutionOf(variant);
  const times = timesOf(variant.model);
  return times && (answerTo(means)?.no_percentiles ? means : { ...means, ...times });
}

// timesOf returns the requested distributions of times, null if a model has none.
function timesOf(model) {
  const service = serviceOf(model);
  return service === "gang" ? null : service === "one" ? { percentiles, within: [state.saved.within] } : { percentiles };
}

// questions returns the questions for the solver, and whether there are more once the page is calm.
function questions(calm) {
  const { saved, draft } = state;
  if (saved.tab === "pool") return poolQuestions(saved, calm);
  const both = saved.pinned ? [saved, saved.pinned] : [saved];
  const view = viewOf(saved);
  const wanted = [];
  if (draft) wanted.push({ ask: "read", text: draft.text });
  wanted.push({ ask: "read", text: JSON.stringify(saved.model) }); // whose answer has the text for the editor
  for (const variant of both) wanted.push(verdictOf(variant), solutionOf(variant));
  if (!needsTimes(view)) wanted.push(...curveOf(saved, view, 0, 1));
  for (const variant of both) if (isSolved(variant) && hasPercentiles(variant)) wanted.push(percentilesOf(variant));
  wanted.push(...curveOf(saved, view, 0, 2));
  if (saved.pinned) wanted.push(...curveOf(saved.pinned, view, 0, 2));
  if (calm < calmTime) return { wanted, later: true };
  for (const variant of both) wanted.push(...curveOf(variant, view, 2, slices.length));
  if (isSolved(saved)) wanted.push(changesOf(saved));
  return { wanted, later: false };
}

// Curves are requested in slices of growing detail: 9, 17, 33 and 65 points in total.
const slices = [8, 4, 2, 1].map((every, slice) =>
  Array.from({ length: 65 }, (_, i) => i).filter((i) => i % every === 0 && (slice === 0 || i % (2 * every) !== 0)));

// loadOf returns load i of the 65 of a curve: nearly up to the critical load, and denser there.
function loadOf(critical, i) {
  return decimalText(0.985 * critical * (1 - (1 - (i + 1) / 65) ** 1.5), 4);
}

// criticalOf returns the load up to which curves of a variant extend, null if it is unknown or does not exist: the critical one,
// or half as much again as the load that all servers together can do if jobs give up.
const criticalOf = (variant) => limitOf(answerTo(verdictOf(variant)));

function limitOf(verdict) {
  const critical = verdict?.critical_load ?? null;
  const crowded = verdict?.crowded_load ?? null;
  return crowded === null ? critical : Math.min(critical ?? Infinity, 1.5 * crowded);
}

// needsTimes reports whether a view shows distributions of times.
const needsTimes = (view) => view === "percentile" || view === "level";

// curveOf returns the questions for some slices of a curve, a few points each. If a point takes long, each question has one point,
// and there are fewer slices.
function curveOf(variant, view, from, to) {
  const critical = criticalOf(variant);
  if (critical === null || !isSolved(variant) || (needsTimes(view) && !hasPercentiles(variant))) return [];
  const states = answerTo(solutionOf(variant))?.states ?? 0;
  const some = needsTimes(view) || serviceOf(variant.model) !== "all" ? 1 : Math.max(1, Math.min(8, Math.floor(8192 / states)));
  const list = [];
  for (const slice of slices.slice(from, states > 65536 ? Math.min(to, 2) : to)) {
    for (let i = 0; i < slice.length; i += some) {
      const loads = slice.slice(i, i + some).map((point) => loadOf(critical, point));
      list.push({ ask: "curve", model: variant.model, loads, ...(needsTimes(view) && timesOf(variant.model)) });
    }
  }
  return list;
}

// isRefining reports whether curves of the chart will get more points.
function isRefining(saved) {
  return [saved, saved.pinned].some((variant) => variant && curveOf(variant, viewOf(saved), 0, slices.length).some((question) => !answerTo(question)));
}

// pointsOf returns the known points of a curve, as { load, solution } by load.
function pointsOf(variant, view) {
  const points = [];
  for (const question of curveOf(variant, view, 0, slices.length)) {
    const answer = answerTo(question);
    answer?.points?.forEach((solution, i) => points.push({ load: Number(question.loads[i]), solution }));
  }
  return points.filter(({ solution }) => solution.stable).sort((a, b) => a.load - b.load);
}

// isSolved reports whether the solver has not rejected a variant, for example as too large.
const isSolved = (variant) => !answerTo(solutionOf(variant))?.error;

// hasPercentiles reports whether a variant has percentiles, unless the solver has said why there are none.
function hasPercentiles(variant) {
  return timesOf(variant.model) !== null && answerTo(percentilesOf(variant))?.no_percentiles === undefined;
}

// simulations returns the questions for the simulator: the load at which it was started, and six more along the curve.
function simulations() {
  const { saved, simulate } = state;
  if (!simulate || simulate.model !== saved.model) return [];
  const critical = criticalOf(saved);
  if (critical === null) return [];
  const loads = [0.15, 0.3, 0.45, 0.6, 0.75, 0.9].map((part) => decimalText(part * critical, 3));
  if (parseNumber(simulate.load) < critical && parseNumber(simulate.load) > 0) loads.unshift(simulate.load);
  return loads.map((load) => simulationOf(saved, load));
}
