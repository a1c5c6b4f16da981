// The chart: one measure of all classes or servers against the load.

const plot = { width: 680, height: 340, left: 52, right: 112, top: 14, bottom: 38 }; // in pixels

// fitChart makes the chart as wide as its place, and on wide screens about as high as the graph beside it.
function fitChart(model) {
  const place = document.getElementById("curves");
  plot.width = Math.max(280, (place?.clientWidth ?? 708) - 28);
  plot.right = plot.width < 480 ? 88 : 120;
  plot.left = plot.width < 480 ? 40 : 52;
  const rows = Math.max(model.classes.length, model.servers.length);
  plot.height = plot.width < 480 ? 270 : Math.max(340, Math.min(560, rows * graph.row));
}

// What the views show, of a solution (exact) and of a simulation.
const measures = {
  delay: { name: "Mean delay", unit: "s", rows: "classes", of: (row) => row.mean_delay, simulated: (row) => row.mean_delay },
  percentile: { name: "Percentile", unit: "s", rows: "classes", of: (row) => row.percentiles?.[percentiles.indexOf(state.saved.percentile)] ?? null, simulated: (row) => row.percentiles[percentiles.indexOf(state.saved.percentile)] },
  rate: { name: "Service rate", unit: "work/s", rows: "classes", of: (row) => row.service_rate, simulated: (row) => row.service_rate },
  busy: { name: "Utilization", unit: "", rows: "servers", of: (row) => row.utilization, simulated: (row) => row.utilization },
};

// curvesOf returns the curves of a variant by row: lists of { load, value }.
function curvesOf(variant, view) {
  const { rows, of } = measures[view];
  const points = pointsOf(variant, view);
  return variant.model[rows].map((_, i) => points.map(({ load, solution }) => ({ load, value: of(solution[rows][i]) })).filter(({ value }) => value !== null));
}

let heldCurves = null; // those drawn last, shown until there are new ones

function drawChart(saved, seen) {
  const measure = measures[saved.view];
  const rows = saved.model[measure.rows];
  const critical = criticalOf(saved) ?? seen.verdict?.critical_load ?? null;
  if (critical === null) return h("p", { class: "quiet empty" }, seen.verdict && !seen.verdict.error ? "No jobs arrive." : "");
  const fresh = curvesOf(saved, saved.view);
  const kind = `${saved.view}/${saved.percentile}/${rows.map((row) => row.name).join("/")}`;
  const none = !isSolved(saved) || (saved.view === "percentile" && !(hasOneSize(saved.model) && hasPercentiles(saved)));
  if (none || fresh.some((curve) => curve.length >= 9) || heldCurves?.kind !== kind) heldCurves = { kind, curves: fresh };
  const { curves } = heldCurves;
  const ghosts = saved.pinned ? curvesOf(saved.pinned, saved.view) : [];
  const estimates = found(measure);
  const known = curves.some((curve) => curve.length > 0);
  const scale = scales(saved, critical, known ? curves : [estimates], ghosts); // a model that is too large has estimates only
  const bars = drawBars(estimates, scale);
  const load = parseNumber(saved.load);
  const at = scale.x(Math.min(load, scale.most));
  const dots = seen.solution?.stable && rows.map((row, i) => {
    const value = measure.of((saved.view === "percentile" ? seen.percentiles ?? seen.solution : seen.solution)[measure.rows][i]);
    return value !== null && scale.holds(value) && h("circle", { key: `dot ${row.name}`, class: `fill${i % 7}`, cx: at, cy: scale.y(value), r: 4 });
  });
  const title = saved.view === "percentile" ? `${saved.percentile}th percentile of the delay` : measure.name;
  return h("svg", { id: "chart", role: "img", viewBox: `0 0 ${plot.width} ${plot.height}`, "aria-label": `${title} of each ${measure.rows === "classes" ? "class" : "server"} against the load, up to ${shown(critical)}; numbers stand in the table`,
    on: { pointerdown: chartPoint(scale), pointermove: chartPoint(scale), pointerup: endGesture } },
  drawAxes(scale, critical, measure),
  h("g", { key: "ghosts", class: "ghosts", "aria-hidden": "true" }, ghosts.map((curve, i) => drawCurve(curve, i, scale))),
  h("g", { key: "curves" }, curves.map((curve, i) => drawCurve(curve, i, scale, rows[i].name))),
  bars,
  h("line", { key: "cursor", class: "cursor", x1: at, x2: at, y1: plot.top, y2: plot.height - plot.bottom }),
  dots,
  none && estimates.length === 0 && h("text", { key: "none", class: "axis middle", x: plot.width / 2, y: plot.height / 2 }, "No formula here; it can be simulated."),
  drawNames(curves, rows, scale));
}

// scales returns how loads and values become places.
function scales(saved, critical, curves, ghosts) {
  const pinned = saved.pinned ? criticalOf(saved.pinned) ?? 0 : 0;
  const most = Math.max(1.04 * critical, Math.min(1.04 * pinned, 3 * critical), Math.min(1.03 * parseNumber(saved.load), 3 * critical));
  const right = plot.width - plot.right;
  const bottom = plot.height - plot.bottom;
  const all = [...curves, ...ghosts].flat();
  const x = (load) => plot.left + (load / most) * (right - plot.left);
  const values = all.map(({ value }) => value).filter((value) => value > 0);
  let low = 0;
  let high = 1;
  if (saved.view !== "busy" && values.length > 0) {
    high = Math.max(...values);
    if (!saved.log && saved.view !== "rate") { // up to what the curves reach at nine tenths of the critical load
      const until = (list, most) => list.flat().filter(({ load }) => load <= most).map(({ value }) => value);
      const below = [...until(curves, 0.9 * critical), ...until(ghosts, 0.8 * pinned)];
      if (below.length > 0) high = Math.max(...below);
    }
    high *= 1.06;
  }
  if (saved.log && values.length > 0) low = Math.min(...values) / 1.1;
  const log = saved.log && low > 0;
  const part = log ? (value) => Math.log(value / low) / Math.log(high / low) : (value) => value / high;
  return { most, x, y: (value) => bottom - part(value) * (bottom - plot.top), holds: (value) => value <= high && value >= low, log, low, high, right, bottom };
}

function drawAxes(scale, critical, measure) {
  const { right, bottom } = scale;
  const up = (scale.log ? logTicks(scale.low, scale.high) : ticks(0, scale.high, 5)).map((value) => h("g", { key: value },
    h("line", { class: "grid", x1: plot.left, x2: right, y1: scale.y(value), y2: scale.y(value) }),
    h("text", { class: "tick end", x: plot.left - 7, y: scale.y(value) + 4 }, shown(value))));
  const across = ticks(0, scale.most, plot.width < 480 ? 4 : 6).map((value) => h("text", { key: value, class: "tick middle", x: scale.x(value), y: bottom + 16 }, shown(value)));
  const pole = scale.x(critical);
  return h("g", { key: "axes", "aria-hidden": "true" },
    h("rect", { key: "shade", class: "shade", x: pole, y: plot.top, width: Math.max(0, right - pole), height: bottom - plot.top }),
    h("g", { key: "up" }, up),
    h("g", { key: "across" }, across),
    h("line", { key: "pole", class: "pole", x1: pole, x2: pole, y1: plot.top, y2: bottom }),
    h("line", { key: "base", class: "base", x1: plot.left, x2: right, y1: bottom, y2: bottom }),
    h("text", { key: "load", class: "axis middle", x: (plot.left + right) / 2, y: bottom + 33 }, `load${plot.width < 480 ? "" : ", times the arrival rates of the model"}; unstable from ${shown(critical)} on`),
    measure.unit && h("text", { key: "unit", class: "axis", x: 4, y: plot.top + 4 }, measure.unit));
}

// drawCurve describes a curve, cut where it leaves the plot.
function drawCurve(curve, i, scale, name) {
  let path = "";
  let before = null;
  for (const { load, value } of curve) {
    const [x, y] = [scale.x(load), scale.y(value)];
    if (y >= plot.top - 0.5) path += `${before === null ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    else {
      if (before) path += `L${(before[0] + ((x - before[0]) * (before[1] - plot.top)) / (before[1] - y)).toFixed(1)} ${plot.top}`;
      break;
    }
    before = [x, y];
  }
  return path && h("path", { key: i, class: `curve stroke${i % 7} dash${Math.floor(i / 7) % 3}`, "data-curve": name, d: path });
}

// drawNames describes the names beside the ends of the curves, moved apart where they would meet.
function drawNames(curves, rows, scale) {
  const apart = 14;
  const names = curves.map((curve, i) => {
    const inside = curve.filter(({ value }) => scale.y(value) >= plot.top);
    return inside.length > 0 && { i, name: rows[i].name, x: scale.x(inside.at(-1).load), end: scale.y(curve.length > inside.length ? scale.high : inside.at(-1).value) };
  }).filter(Boolean).sort((a, b) => a.end - b.end || b.x - a.x);
  const most = Math.floor((scale.bottom - plot.top) / apart) + 1;
  const left = names.length - most;
  const listed = left > 0 ? names.slice(0, most - 1) : names;
  let lowest = plot.top - apart + 4;
  for (const one of listed) lowest = one.at = Math.max(one.end, lowest + apart);
  let highest = scale.bottom + apart;
  for (const one of listed.toReversed()) highest = one.at = Math.min(one.at, highest - apart);
  return h("g", { key: "names", "aria-hidden": "true" },
    listed.map(({ i, name, x, end, at }) => h("g", { key: name },
      h("path", { class: "leader", d: `M${(x + 2).toFixed(1)} ${end.toFixed(1)}L${scale.right + 4} ${at.toFixed(1)}` }),
      h("path", { class: `sample stroke${i % 7} dash${Math.floor(i / 7) % 3}`, d: `M${scale.right + 5} ${at.toFixed(1)}h13` }),
      h("text", { class: "curve-name", x: scale.right + 22, y: at + 4 }, shorten(name, plot.width < 480 ? 9 : 14, rows.map(titleOf))))),
    left > 0 && h("text", { key: "more", class: "curve-name", x: scale.right + 22, y: scale.bottom + 4 }, `and ${left + 1} more`));
}

// found returns what simulations found of a measure, as { load, i, value, low, high } with the interval from low to high.
function found(measure) {
  return simulations().flatMap((question) => {
    const answer = answerTo(question);
    if (!answer?.stable) return [];
    return answer[measure.rows].map((row, i) => {
      const estimate = measure.simulated(row);
      const value = estimate?.mean ?? estimate?.value;
      return estimate && { load: Number(question.load), i, value, low: estimate.low ?? value - estimate.half_width, high: estimate.high ?? value + estimate.half_width };
    }).filter(Boolean);
  });
}

// drawBars describes what simulations found: dots with bars for the intervals.
function drawBars(estimates, scale) {
  const y = (value) => Math.max(plot.top, Math.min(scale.bottom, scale.y(Math.max(value, scale.log ? scale.low : 0))));
  const bars = estimates.filter(({ value }) => scale.holds(value)).map(({ load, i, value, low, high }) => h("g", { key: `${load}/${i}`, class: `stroke${i % 7}` },
    h("path", { class: "bar", d: `M${scale.x(load)} ${y(low)}V${y(high)}m-4 0h8M${scale.x(load) - 4} ${y(low)}h8` }),
    h("circle", { class: "found", cx: scale.x(load), cy: scale.y(value), r: 3 })));
  return h("g", { key: "bars", class: "bars" }, bars);
}

// chartPoint returns what the pointer on the chart does: it sets the load.
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
