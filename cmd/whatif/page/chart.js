// The chart of one measure of all classes or servers against the load.

const plot = { width: 680, height: 340, left: 52, right: 112, top: 26, bottom: 38 }; // in pixels

// fitChart makes the chart as wide as its place, and on wide screens the chart and the graph next to it
// about equally high.
function fitChart(model) {
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  const place = document.getElementById("curves");
  plot.width = Math.max(280, (place?.clientWidth ?? 708) - 28);
  plot.right = plot.width < 480 ? 88 : 120;
  plot.left = plot.width < 480 ? 40 : 52;
  const rows = Math.max(model.classes.length, model.servers.length);
  plot.height = plot.width < 480 ? 270 : clamp(rows * 50, 350, 570);
  const sideBySide = matchMedia("(min-width: 900px)").matches;
  const zoom = Math.min(580, (document.getElementById("cluster")?.clientWidth ?? 456) - 16) / graph.width;
  graph.row = sideBySide ? clamp((plot.height - 140) / rows / zoom, 50, 130) : 50;
  graph.height = clamp(0.45 * graph.row, 36, 48);
}

// The numbers of the views: in the rows of a solution, and estimates with the same names in those of a simulation.
const measures = {
  delay: { name: "Mean delay", axis: "mean delay (s)", rows: "classes", of: (row) => row.mean_delay },
  waiting: { name: "Mean waiting", axis: "mean waiting time (s)", rows: "classes", of: (row) => row.mean_waiting },
  percentile: { name: "Percentile", axis: "percentile of the", rows: "classes", of: (row) => timesIn(row)?.[`p${state.saved.percentile}`] ?? null },
  level: { name: "Service level", axis: "fraction served within", rows: "classes", isFraction: true, of: (row) => levelOf(row) ?? null },
  abandon: { name: "Giving up", axis: "fraction of jobs that give up", rows: "classes", of: (row) => row.abandon_probability },
  rate: { name: "Service rate", axis: "service rate of a job (work/s)", rows: "classes", of: (row) => row.service_rate },
  busy: { name: "Utilization", axis: "utilization (fraction of time)", rows: "servers", isFraction: true, of: (row) => row.utilization },
};

// The percentiles of a model are those of the delay, or of the waiting time if a job runs on one server.
const timeName = () => (serviceOf(state.saved.model) === "one" ? "waiting time" : "delay");
const timesIn = (row) => (serviceOf(state.saved.model) === "one" ? row.waiting : row.delay);

// curvesOf returns the curves of a variant by row: lists of { load, value }.
function curvesOf(variant, view) {
  const { rows, of } = measures[view];
  const points = pointsOf(variant, view);
  return variant.model[rows].map((_, i) => points.map(({ load, solution }) => ({ load, value: of(solution[rows][i]) })).filter(({ value }) => value !== null));
}

let heldCurves = null; // the last drawn curves, shown until there are new ones

function drawChart(saved, seen) {
  const view = viewOf(saved);
  const measure = measures[view];
  const rows = saved.model[measure.rows];
  const critical = criticalOf(saved) ?? limitOf(seen.verdict);
  if (critical === null) return h("p", { class: "quiet empty" }, seen.verdict && !seen.verdict.error ? "No jobs arrive." : "");
  const fresh = curvesOf(saved, view);
  const kind = `${serviceOf(saved.model)}/${view}/${saved.percentile}/${saved.within}/${rows.map((row) => row.name).join("/")}`;
  const none = !isSolved(saved) || (needsTimes(view) && !(hasOneSize(saved.model) && hasPercentiles(saved)));
  if (none || fresh.some((curve) => curve.length >= 9) || heldCurves?.kind !== kind) heldCurves = { kind, curves: fresh };
  const { curves } = heldCurves;
  plot.top = none && !simulations().length ? 44 : 26; // below the title of the axis, and a note
  const ghosts = saved.pinned && viewsOf(saved.pinned.model).includes(view) ? curvesOf(saved.pinned, view) : [];
  const estimates = found(measure);
  const known = curves.some((curve) => curve.length > 0);
  const scale = scales(saved, critical, measure, known ? curves : [estimates], ghosts); // a model that is too large has estimates only
  const bars = drawBars(estimates, scale);
  const load = parseNumber(saved.load);
  const at = scale.x(Math.min(load, scale.most));
  const now = (needsTimes(view) && seen.percentiles) || seen.solution;
  const dots = now?.stable && seen.solution?.stable && rows.map((row, i) => {
    const value = measure.of(now[measure.rows][i]);
    return value !== null && value !== undefined && scale.holds(value) && h("circle", { key: `dot ${row.name}`, class: `fill${i % 7}`, cx: at, cy: scale.y(value), r: 4 });
  });
  const title = view === "percentile" ? `${saved.percentile}th percentile of the ${timeName()}` : view === "level" ? `Fraction served within ${saved.within} s` : measure.name;
  const axis = view === "percentile" ? `${saved.percentile}th ${measure.axis} ${timeName()} (s)` : view === "level" ? `${measure.axis} ${saved.within} s` : measure.axis;
  const refining = !none && isRefining(saved);
  const strokes = curves.map((curve) => cutCurve(curve, scale));
  return h("svg", { id: "chart", role: "img", "aria-busy": String(refining), viewBox: `0 0 ${plot.width} ${plot.height}`, "aria-label": `${title} of each ${measure.rows === "classes" ? "class" : "server"} against the load, up to ${shown(critical)}; the tables have the numbers`,
    on: { pointerdown: chartPoint(scale), pointermove: chartPoint(scale), pointerup: endGesture } },
  drawAxes(scale, poleOf(seen.verdict, critical), axis),
  h("g", { key: "ghosts", class: "ghosts", "aria-hidden": "true" }, ghosts.map((curve, i) => drawCurve(cutCurve(curve, scale), i))),
  h("g", { key: "curves" }, strokes.map((list, i) => drawCurve(list, i, rows[i].name))),
  bars,
  h("line", { key: "cursor", class: "cursor", x1: at, x2: at, y1: plot.top, y2: plot.height - plot.bottom }),
  dots,
  none && estimates.length === 0 && h("text", { key: "none", class: "axis", x: 4, y: 31 }, "There is no formula; use Simulate."),
  refining && h("text", { key: "refining", class: "axis end", x: scale.right, y: 13 }, "refining …"),
  drawNames(strokes, rows, scale, ghosts.length > 0));
}

// scales returns the functions from loads and values to positions.
function scales(saved, critical, measure, curves, ghosts) {
  const pinned = saved.pinned ? criticalOf(saved.pinned) ?? 0 : 0;
  const most = Math.max(1.04 * critical, Math.min(1.04 * pinned, 3 * critical), Math.min(1.03 * parseNumber(saved.load), 3 * critical));
  const right = plot.width - plot.right;
  const bottom = plot.height - plot.bottom;
  const all = [...curves, ...ghosts].flat();
  const x = (load) => plot.left + (load / most) * (right - plot.left);
  const values = all.map(({ value }) => value).filter((value) => value > 0);
  let low = 0;
  let high = 1;
  if (!measure.isFraction && values.length > 0) {
    high = Math.max(...values);
    if (!saved.log && measure !== measures.rate && measure !== measures.abandon) { // up to what the curves reach at nine tenths of the critical load
      const until = (list, most) => list.flat().filter(({ load }) => load <= most).map(({ value }) => value);
      const below = [...until(curves, 0.9 * critical), ...until(ghosts, Math.min(0.8 * pinned, most))];
      if (below.length > 0) high = Math.max(...below);
    }
    high = Math.min(1.06 * high, 1e308);
  }
  if (saved.log && values.length > 0) low = Math.min(...values) / 1.1;
  const log = saved.log && low > 0;
  const part = log ? (value) => (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) : (value) => value / high;
  return { most, x, y: (value) => bottom - part(value) * (bottom - plot.top), holds: (value) => value <= high && value >= low, log, low, high, right, bottom };
}

// poleOf returns the load that the chart marks, with words: the critical one, or that from which the servers cannot do all the work
// if jobs give up.
function poleOf(verdict, critical) {
  const crowded = verdict?.crowded_load ?? null;
  if (crowded === null || critical < crowded) return { at: critical, words: `unstable from ${shown(critical)} on`, isUnstable: true };
  return { at: crowded, words: `over capacity from ${shown(crowded)} on`, isUnstable: false };
}

// drawAxes describes the axes. The title of the vertical axis is above it.
function drawAxes(scale, mark, title) {
  const { right, bottom } = scale;
  const up = (scale.log ? logTicks(scale.low, scale.high) : ticks(0, scale.high, 5)).map((value) => h("g", { key: value },
    h("line", { class: "grid", x1: plot.left, x2: right, y1: scale.y(value), y2: scale.y(value) }),
    h("text", { class: "tick end", x: plot.left - 7, y: scale.y(value) + 4 }, shown(value))));
  const across = ticks(0, scale.most, plot.width < 480 ? 4 : 6).map((value) => h("text", { key: value, class: "tick middle", x: scale.x(value), y: bottom + 16 }, shown(value)));
  const pole = scale.x(mark.at);
  return h("g", { key: "axes", "aria-hidden": "true" },
    mark.isUnstable && h("rect", { key: "shade", class: "shade", x: pole, y: plot.top, width: Math.max(0, right - pole), height: bottom - plot.top }),
    h("g", { key: "up" }, up),
    h("g", { key: "across" }, across),
    h("line", { key: "pole", class: "pole", x1: pole, x2: pole, y1: plot.top, y2: bottom }),
    h("line", { key: "base", class: "base", x1: plot.left, x2: right, y1: bottom, y2: bottom }),
    h("text", { key: "load", class: "axis middle", x: (plot.left + right) / 2, y: bottom + 33 }, `load (${plot.width < 480 ? "factor" : "factor of all arrival rates"}); ${mark.words}`),
    h("text", { key: "title", class: "axis", x: 4, y: 13 }, title));
}

// cut returns the part of a segment that is inside the plot, as its two ends; null if there is none
// (Liang and Barsky).
function cut([x1, y1], [x2, y2], scale) {
  let [from, to] = [0, 1];
  const keep = (step, space) => { // where t * step <= space
    if (step < 0) from = Math.max(from, space / step);
    else if (step > 0) to = Math.min(to, space / step);
    else if (space < 0) to = -1;
  };
  const [dx, dy] = [x2 - x1, y2 - y1];
  keep(-dx, x1 - plot.left);
  keep(dx, scale.right - x1);
  keep(-dy, y1 - plot.top);
  keep(dy, scale.bottom - y1);
  return from > to ? null : [[x1 + from * dx, y1 + from * dy], [x1 + to * dx, y1 + to * dy]];
}

// cutCurve returns the parts of a curve that are inside the plot, as lists of points.
function cutCurve(curve, scale) {
  const far = 1e6; // in pixels; logarithms of 0 are infinite
  const points = curve.map(({ load, value }) => [scale.x(load), Math.max(-far, Math.min(far, scale.y(value)))]);
  const list = [];
  let end = null; // of the last segment, if it was not cut there
  points.slice(1).forEach((point, k) => {
    const part = cut(points[k], point, scale);
    if (part && end === points[k]) list.at(-1).push(part[1]);
    else if (part) list.push(part);
    end = part && part[1][0] === point[0] && part[1][1] === point[1] ? point : null;
  });
  return list;
}

// drawCurve describes the parts of a curve.
function drawCurve(list, i, name) {
  const path = list.map((points) => `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`).join("");
  return path && h("path", { key: i, class: `curve stroke${i % 7} dash${Math.floor(i / 7) % 3}`, "data-curve": name, d: path });
}

// drawNames describes the names next to the ends of the curves: in the order of these ends from the top,
// those that leave the plot at the top from the left. Close names are moved apart.
function drawNames(strokes, rows, scale, hasGhosts) {
  const apart = 14;
  const bottom = scale.bottom - (hasGhosts ? 20 : 0);
  const names = strokes.map((list, i) => {
    const end = list.at(-1)?.at(-1);
    return end && { i, name: rows[i].name, x: end[0], end: end[1] };
  }).filter(Boolean).sort((a, b) => a.end - b.end || a.x - b.x);
  const most = Math.floor((bottom - plot.top) / apart) + 1;
  const left = names.length - most;
  const listed = left > 0 ? names.slice(0, most - 1) : names;
  let lowest = plot.top - apart + 4;
  for (const one of listed) lowest = one.at = Math.max(one.end, lowest + apart);
  let highest = bottom + apart;
  for (const one of listed.toReversed()) highest = one.at = Math.min(one.at, highest - apart);
  const column = scale.right + 22;
  const isNear = ({ x, end }) => end > plot.top + 1 && scale.right - x < 60;
  return h("g", { key: "names", "aria-hidden": "true" },
    listed.map((one) => h("g", { key: one.name },
      isNear(one) && h("path", { key: "leader", class: "leader", d: `M${(one.x + 2).toFixed(1)} ${one.end.toFixed(1)}L${scale.right + 4} ${one.at.toFixed(1)}` }),
      h("path", { key: "sample", class: `sample stroke${one.i % 7} dash${Math.floor(one.i / 7) % 3}`, d: `M${scale.right + 5} ${one.at.toFixed(1)}h13` }),
      h("text", { key: "name", class: "curve-name", x: column, y: one.at + 4 }, shorten(one.name, plot.width < 480 ? 9 : 14, rows.map(titleOf))))),
    left > 0 && h("text", { key: "more", class: "curve-name", x: column, y: bottom + 4 }, `and ${left + 1} more`),
    hasGhosts && h("g", { key: "pinned" },
      h("path", { class: "pinned", d: `M${scale.right + 5} ${scale.bottom}h13` }),
      h("text", { class: "curve-name", x: column, y: scale.bottom + 4 }, "pinned")));
}

// found returns the estimates of a measure, as { load, i, value, low, high } with the interval from low to high.
function found(measure) {
  return simulations().flatMap((question) => {
    const answer = answerTo(question);
    if (!answer?.stable) return [];
    return answer[measure.rows].map((row, i) => {
      const estimate = measure.of(row);
      const value = estimate?.mean ?? estimate?.estimate;
      return estimate && { load: Number(question.load), i, value, low: estimate.low ?? value - estimate.half_width, high: estimate.high ?? value + estimate.half_width };
    }).filter(Boolean);
  });
}

// drawBars describes the estimates: dots with bars for the intervals.
function drawBars(estimates, scale) {
  const y = (value) => Math.max(plot.top, Math.min(scale.bottom, scale.y(Math.max(value, scale.log ? scale.low : 0))));
  const bars = estimates.filter(({ value }) => scale.holds(value)).map(({ load, i, value, low, high }) => h("g", { key: `${load}/${i}`, class: `stroke${i % 7}` },
    h("path", { class: "bar", d: `M${scale.x(load)} ${y(low)}V${y(high)}m-4 0h8M${scale.x(load) - 4} ${y(low)}h8` }),
    h("circle", { class: "found", cx: scale.x(load), cy: scale.y(value), r: 3 })));
  return h("g", { key: "bars", class: "bars" }, bars);
}

// chartPoint returns the handler of the pointer on the chart, which sets the load.
function chartPoint(scale) {
  return (event) => {
    if (event.type === "pointerdown" ? event.button !== 0 : event.buttons !== 1 || state.gesture !== "chart") return;
    const svg = document.getElementById("chart");
    const { x } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    if (event.type === "pointerdown" && (x < plot.left || x > scale.right)) return;
    const load = Math.max(0, Math.min(scale.most, ((x - plot.left) / (scale.right - plot.left)) * scale.most));
    if (event.type === "pointerdown") state.gesture = null;
    save({ load: decimalText(load, 3) }, "chart");
  };
}
