// The tab of one pool of equal servers: an Erlang calculator. Go computes all numbers, with as many digits as are proved.

const units = { s: ["second", "seconds"], min: ["minute", "minutes"], h: ["hour", "hours"] };
const patienceKinds = { mean: "give up after", never: "never give up", zero: "are lost" };
const modelNames = { mean: "Erlang A", never: "Erlang C", zero: "Erlang B" };
const mostServers = 1e6;

// The measures of targets, by the names of pfq: their words, with those that tell what jobs do, the field of the limit, and whether
// the limit is a minimum.
const poolTargets = {
  served: { words: "served within", tell: "of the jobs are served within", limit: "share", least: true },
  waiting: { words: "served or gone within", tell: "of the jobs are served or gone within", limit: "share", least: true },
  served_share: { words: "of the served, within", tell: "of the served jobs are served within", limit: "share", least: true },
  mean_waiting: { words: "mean waiting time", limit: null, least: false },
  abandon_probability: { words: "jobs that give up", tell: "of the jobs give up", limit: "lost", least: false },
};

const firstPool = {
  servers: "26", rate: "5.5", rateUnit: "min", size: "4", sizeUnit: "min", patience: "mean", meanPatience: "3", patienceUnit: "min",
  within: "20", withinUnit: "s", measure: "served", share: "0.8", lost: "0.05",
};

const isServers = (text) => isCount(text.trim(), mostServers);
const isShare = (text) => parseNumber(text) > 0 && parseNumber(text) < 1;
const isOneOf = (names) => (text) => Object.hasOwn(names, text);
const poolFields = {
  servers: isServers, rate: (text) => isSize(text), rateUnit: isOneOf(units), size: (text) => isSize(text), sizeUnit: isOneOf(units), patience: isOneOf(patienceKinds),
  meanPatience: (text) => isNumber(text), patienceUnit: isOneOf(units), within: (text) => isNumber(text), withinUnit: isOneOf(units),
  measure: isOneOf(poolTargets), share: isShare, lost: isShare,
};

// acceptablePool returns a pool made of an untrusted one.
function acceptablePool(found) {
  const good = (field) => typeof found?.[field] === "string" && found[field].length <= 60 && poolFields[field](found[field]);
  const pool = Object.fromEntries(Object.keys(poolFields).map((field) => [field, good(field) ? found[field] : firstPool[field]]));
  return { ...pool, ...withPatience(pool, pool.patience) };
}

// askOf returns a question about a pool. Answers about other numbers of servers do not depend on the present one.
function askOf(ask, { pool }, more = {}) {
  const { limit } = poolTargets[pool.measure];
  const amount = (field, unit) => ({ number: pool[field], unit: pool[unit] });
  return {
    ask,
    pool: {
      servers: ask === "fewest" || ask === "pools" ? "1" : pool.servers, arrival_rate: amount("rate", "rateUnit"), mean_size: amount("size", "sizeUnit"),
      mean_patience: pool.patience === "mean" ? amount("meanPatience", "patienceUnit") : { number: pool.patience === "zero" ? "0" : "", unit: pool.sizeUnit },
      within: amount("within", "withinUnit"), measure: pool.measure, limit: limit ? pool[limit] : "",
    },
    ...more,
  };
}

// poolQuestions returns the questions of the tab, the most urgent first.
function poolQuestions(saved, calm) {
  const wanted = [askOf("pool", saved), askOf("fewest", saved)];
  if (calm < calmTime) return { wanted, later: true };
  return { wanted: [...wanted, ...poolCurve(saved)], later: false };
}

// poolCounts returns the numbers of servers of the chart: around the fewest, and up to the present number unless that is far away.
function poolCounts(saved) {
  const load = answerTo(askOf("pool", saved))?.load;
  const best = answerTo(askOf("fewest", saved))?.servers;
  if (load === undefined || !best) return [];
  const wide = Math.max(4, Math.ceil(1.5 * Math.sqrt(Math.min(load, mostServers))));
  const now = Number(saved.pool.servers);
  const shows = Math.abs(now - best) <= 6 * wide;
  const low = Math.max(1, (shows ? Math.min(now, best) : best) - wide);
  const high = Math.min(mostServers, (shows ? Math.max(now, best) : best) + wide);
  const most = 40;
  const counts = new Set([best - 1, best, ...(shows ? [now] : [])].filter((n) => n >= low));
  for (let i = 0; i <= most; i++) counts.add(Math.round(low + (i * (high - low)) / most));
  return [...counts].sort((a, b) => a - b);
}

// poolCurve returns the questions for the points of the chart, a few each: first every fourth.
function poolCurve(saved) {
  const counts = poolCounts(saved);
  const isFirst = (i) => i % 4 === 0 || i === counts.length - 1;
  const slices = [counts.filter((_, i) => isFirst(i)), counts.filter((_, i) => !isFirst(i))];
  const some = counts.at(-1) > 5000 ? 3 : 12;
  const list = [];
  for (const slice of slices) {
    for (let i = 0; i < slice.length; i += some) list.push(askOf("pools", saved, { counts: slice.slice(i, i + some) }));
  }
  return list;
}

const heldPool = {}; // the last answers, shown while the next are on their way

function drawPool(saved) {
  const { pool } = saved;
  const hold = (slot, question) => (heldPool[slot] = answerTo(question) ?? heldPool[slot]);
  const seen = hold("pool", askOf("pool", saved));
  const best = hold("fewest", askOf("fewest", saved));
  const set = (fields, gesture = null) => save({ pool: { ...saved.pool, ...fields } }, gesture);
  const given = h("div", { key: "given", class: "stack" }, // before the verdict, which reports invalid fields
    h("section", { class: "panel", id: "pool", "aria-label": "Pool" }, h("h2", null, "Pool"), drawPoolFields(pool, set)),
    h("section", { class: "panel", id: "fewest", "aria-label": "Fewest servers" }, h("h2", null, "Fewest servers"), drawTarget(pool, set), drawFewest(pool, best, set)));
  return [
    drawPoolVerdict(pool, answerTo(askOf("pool", saved)), answerTo(askOf("fewest", saved))),
    given,
    h("div", { key: "found", class: "stack" },
      h("section", { class: "panel", id: "pool-numbers", "aria-label": "Numbers" }, drawPoolNumbers(pool, seen)),
      h("section", { class: "panel", id: "pool-curve", "aria-label": "Target against the number of servers" }, drawPoolChart(saved, best, set),
        h("p", { class: "quiet note" }, "Dashed: the target. Ring: the fewest servers. Line: as many as there are; click to move it."))),
  ];
}

const isPoolCurrent = (saved) => Boolean(answerTo(askOf("pool", saved)) && answerTo(askOf("fewest", saved)));

const timeWords = (text, unit) => `${text} ${units[unit][text === "1" ? 0 : 1]}`;
const manyWords = (n) => Number(n).toLocaleString("en", { maximumSignificantDigits: 7 });
const serverWords = (n) => `${manyWords(n)} ${Number(n) === 1 ? "server" : "servers"}`;

// targetWords describes the measure of the target: as a title, or with "tell" what jobs do.
function targetWords({ measure, within, withinUnit, patience }, form = "words") {
  const { [form]: words, limit } = poolTargets[measure];
  if (limit === "lost") return patience === "zero" ? words.replace("give up", "are lost") : words;
  return limit === "share" ? `${words} ${timeWords(within, withinUnit)}` : words;
}

// shareWords returns a fraction as a percentage with as many digits as tell it from the limit, at least four.
function shareWords(value, limit) {
  const text = (digits) => decimalText(100 * value, digits);
  let digits = 4;
  while (digits < 15 && value !== limit && Number(text(digits)) === Number(decimalText(100 * limit, 15))) digits++;
  return `${text(digits)}\u00a0%`;
}

// drawPoolVerdict describes whether the pool is stable and meets the target, from current answers only.
function drawPoolVerdict(pool, seen, best) {
  let [words, detail, good] = ["…", "", null];
  if (seen?.error) [words, detail] = ["No answer:", `${seen.error}.`];
  else if (seen && !seen.stable) {
    [words, good] = ["Unstable: the queue grows without bound.", false];
    detail = `The jobs need ${manyWords(seen.load)} servers on average, there are ${manyWords(pool.servers)}, and no job gives up.`;
  } else if (seen) {
    const { least, limit } = poolTargets[pool.measure];
    const { value } = seen.measures.find(({ name }) => name === pool.measure);
    good = !best || best.error ? null : best.servers !== null && Number(pool.servers) >= best.servers;
    const wanted = limit && parseNumber(pool[limit]);
    const told = limit ? `${shareWords(value, wanted)} ${targetWords(pool, "tell")}` : `the mean waiting time is ${shown(value)} ${units[pool.sizeUnit][1]}`;
    words = !best ? "…" : good ? "The target is met." : good === null ? "" : "The target is missed.";
    detail = `With ${serverWords(pool.servers)}, ${told}; wanted: at ${least ? "least" : "most"} ${limit ? shareWords(wanted, wanted) : timeWords(pool.within, pool.withinUnit)}.`;
  }
  const stale = invalid.size > 0;
  return h("section", { key: "verdict", id: "verdict", class: good === null ? "" : good ? "stable" : "unstable", "aria-label": "Verdict" },
    h("p", { role: "status", "aria-live": "polite" }, h("strong", null, words), " ", detail),
    stale && h("p", { key: "stale", class: "error stale-note" }, "All numbers are those of the last valid pool: correct the marked field."));
}

// drawUnit describes the choice of a unit of time.
function drawUnit(pool, field, label, set, one) {
  return h("select", { key: field, id: `pool/${field}`, "aria-label": `Unit of ${label}`, value: pool[field], on: { change: (event) => set({ [field]: event.target.value }) } },
    Object.entries(units).map(([unit, words]) => h("option", { value: unit }, words[one ? 0 : 1])));
}

function drawPoolFields(pool, set) {
  const text = (field, label, accept, want, wide = 7) => drawField({ key: `pool/${field}`, label, text: pool[field], wide, accept, want, set: (text) => set({ [field]: text.trim() }, `pool/${field}`) });
  const row = (key, label, ...controls) => h("div", { key, class: "row" }, h("label", { for: `pool/${key}` }, label), h("span", { class: "inputs" }, controls));
  const now = Number(pool.servers);
  const step = (by, sign) => h("button", { key: `step${by}`, type: "button", "aria-label": by > 0 ? "One server more" : "One server fewer", disabled: now + by < 1 || now + by > mostServers, on: { click: () => set({ servers: String(now + by) }) } }, sign);
  return h("div", { class: "rows" },
    row("servers", "Servers", text("servers", "Servers", isServers, "a whole number from 1 to 1000000"), step(-1, "−"), step(1, "+")),
    row("rate", "Arrival rate", text("rate", "Arrival rate", isSize, aSize), h("span", { key: "per", class: "quiet" }, "jobs per"), drawUnit(pool, "rateUnit", "the arrival rate", set, true)),
    row("size", "Mean service time", text("size", "Mean service time", isSize, aSize), drawUnit(pool, "sizeUnit", "the mean service time, and of all answers", set)),
    row("patience", "Jobs that wait",
      h("select", { key: "patience", id: "pool/patience", "aria-label": "Jobs that wait", value: pool.patience, on: { change: (event) => set(withPatience(pool, event.target.value)) } },
        Object.entries(patienceKinds).map(([kind, words]) => h("option", { value: kind }, words))),
      pool.patience === "mean" && [text("meanPatience", "Mean patience", isNumber, aNumber), drawUnit(pool, "patienceUnit", "the mean patience", set)]));
}

// withPatience returns the fields of a pool after a change of the kind of patience. If no job gives up, that is no target.
function withPatience({ measure }, patience) {
  return { patience, ...(patience === "never" && measure === "abandon_probability" && { measure: "served" }) };
}

// drawTarget describes the fields of the target.
function drawTarget(pool, set) {
  const { limit, least } = poolTargets[pool.measure];
  const text = (field, label, accept, want, wide) => drawField({ key: `pool/${field}`, label, text: pool[field], wide, accept, want, set: (text) => set({ [field]: text.trim() }, `pool/${field}`) });
  const share = limit && text(limit, least ? "Limit, at least, a fraction" : "Limit, at most, a fraction", isShare, "a number > 0 and < 1, such as 0.8 or 4/5", 6);
  const time = [text("within", limit ? "Time of the service levels" : "Limit, at most", isNumber, aNumber, 6), drawUnit(pool, "withinUnit", "this time", set)];
  return h("div", { class: "inputs target" },
    h("select", { key: "measure", id: "pool/measure", "aria-label": "Measure of the target", value: pool.measure, on: { change: (event) => set({ measure: event.target.value }) } },
      Object.entries(poolTargets).map(([name, { words, limit }]) => h("option", { value: name, disabled: pool.patience === "never" && limit === "lost" }, limit === "lost" ? targetWords({ ...pool, measure: name }) : words))),
    limit === "share" && time,
    h("span", { key: "at", class: "inputs" }, least ? "at least" : "at most", limit ? share : time));
}

// drawFewest describes the fewest servers, and the proof.
function drawFewest(pool, best, set) {
  if (!best) return h("p", { class: "quiet" }, "…");
  if (best.error) return h("p", { class: "error" }, `${best.error}.`);
  if (best.servers === null) return h("p", { role: "status" }, `Not even ${serverWords(mostServers)} are enough.`);
  const n = best.servers;
  const one = ({ value, digits }) => (pool.measure === "mean_waiting" ? [drawDigits(value, digits), ` ${units[pool.sizeUnit][1]}`] : drawDigits(value, digits));
  const fewer = best.fewer ? ["with ", serverWords(n - 1), " ", one(best.fewer), ", which misses the target"] : n === 1 ? null : ["with ", serverWords(n - 1), " the queue grows without bound"];
  return h("div", { key: "answer", class: "answer" },
    h("p", { role: "status" }, h("strong", { id: "fewest-servers" }, serverWords(n)), n === Number(pool.servers) ? " – as many as there are" : null),
    n !== Number(pool.servers) && h("button", { key: "use", type: "button", on: { click: () => set({ servers: String(n) }) } }, `Use ${serverWords(n)}`),
    h("p", { class: "quiet" }, "Proof: with ", serverWords(n), " the measure is ", one(best.value), fewer && "; ", fewer, fewer ? ". More servers never make it worse, so no smaller number is enough." : "."));
}

// drawDigits describes a number with all its proved digits: six as pfq shows them, and the others paler.
function drawDigits(value, digits) {
  const [number, exponent] = digits.split("e");
  const head = /^0*\.?0*(?:\d\.?){0,6}/.exec(number)[0];
  return h("data", { class: "digits", value: String(value), title: String(value) }, head, h("span", { class: "quiet" }, number.slice(head.length)), exponent && `×10${raised(Number(exponent))}`);
}

// poolRows returns the measures of the table that make sense for a kind of patience: their names and titles.
function poolRows({ patience, within, withinUnit, sizeUnit }) {
  const time = timeWords(within, withinUnit);
  const unit = units[sizeUnit][1];
  if (patience === "zero") return [["abandon_probability", "Jobs that are lost (blocking)"], ["served", "Jobs that are served"], ["utilization", "Occupancy"]];
  const never = patience === "never";
  return [
    ["wait_probability", "Probability of waiting"], ["mean_waiting", `Mean waiting time (${unit})`],
    !never && ["mean_waiting_served", `Mean waiting time of the served (${unit})`],
    ["abandon_probability", "Jobs that give up"], ["served", `Served within ${time}`],
    !never && ["waiting", `Served or gone within ${time}`], !never && ["served_share", `Of the served, within ${time}`],
    ["utilization", "Occupancy"], ["mean_queue", "Mean number of waiting jobs"],
  ].filter(Boolean);
}

function drawPoolNumbers(pool, seen) {
  const value = (name) => seen?.measures?.find((one) => one.name === name);
  return [
    h("div", { key: "scroll", class: "scroll" }, h("table", { id: "measures", role: "table" },
      h("caption", null, "Numbers", h("span", { class: "quiet" }, ` (${modelNames[pool.patience]})`)),
      h("tbody", { role: "rowgroup" }, poolRows(pool).map(([name, title]) => h("tr", { key: name, role: "row" },
        h("th", { scope: "row", role: "rowheader" }, title),
        h("td", { role: "cell", class: "number", "data-cell": `pool/${name}` }, value(name) ? drawDigits(value(name).value, value(name).digits) : h("span", { class: "quiet" }, "–"))))))),
    h("p", { key: "trust", class: "quiet" }, seen?.stable ? `Computed within ${seen.accuracy} of exact (relative), a proved bound. All digits are proved; pfq solve shows the first six, rounded.` : seen?.stable === false ? "There are no numbers while the pool is unstable." : ""),
  ];
}

// The chart: the measure of the target against the number of servers.

const poolPlot = { width: 560, height: 300, left: 48, right: 26, top: 30, bottom: 38 }; // in pixels
let heldPoolPoints = { key: "", points: [] };

// poolPoints returns the known points of the chart, as { servers, value } with null for an unstable pool.
function poolPoints(saved) {
  const points = [];
  for (const question of poolCurve(saved)) {
    answerTo(question)?.values?.forEach((value, i) => points.push({ servers: question.counts[i], value }));
  }
  points.sort((a, b) => a.servers - b.servers);
  const key = saved.pool.measure;
  if (points.length >= 8 || heldPoolPoints.key !== key) heldPoolPoints = { key, points };
  return heldPoolPoints.points;
}

function drawPoolChart(saved, best, set) {
  const { pool } = saved;
  const points = poolPoints(saved);
  const finite = points.filter(({ value }) => value !== null);
  const title = `${targetWords(pool)}${pool.measure === "mean_waiting" ? ` (${units[pool.sizeUnit][1]})` : ""}`;
  if (finite.length < 2) return h("p", { key: "none", class: "quiet empty" }, best?.servers ? "…" : "");
  poolPlot.width = Math.max(280, (document.getElementById("pool-curve")?.clientWidth ?? 588) - 28);
  const { width, height, left, top } = poolPlot;
  const [right, bottom] = [width - poolPlot.right, height - poolPlot.bottom];
  const scale = { s: 1, min: 60, h: 3600 };
  const { limit, least } = poolTargets[pool.measure];
  const wanted = limit ? parseNumber(pool[limit]) : (parseNumber(pool.within) * scale[pool.withinUnit]) / scale[pool.sizeUnit];
  const [low, high] = [points[0].servers, points.at(-1).servers];
  const most = least ? 1 : Math.min(1.06 * Math.max(...finite.map(({ value }) => value), wanted), Math.max(6 * wanted, 2 * finite[Math.floor(finite.length / 2)].value));
  const x = (n) => left + ((n - low) / (high - low)) * (right - left);
  const y = (value) => bottom - (Math.min(value, most) / most) * (bottom - top);
  const visible = finite.filter(({ value }, i) => value <= most || finite[i + 1]?.value <= most);
  const path = `M${visible.map(({ servers, value }) => `${x(servers).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`;
  const across = ticks(low, high, width < 480 ? 3 : 6).filter(Number.isInteger);
  const { load } = heldPool.pool;
  const unstable = pool.patience === "never" && load >= low && Math.min(Math.floor(load), high);
  const now = Number(pool.servers);
  const mark = (n, name) => n >= low && n <= high && points.find(({ servers, value }) => servers === n && value !== null && value <= most) && { n, name, value: points.find(({ servers }) => servers === n).value };
  const marks = [mark(best?.servers, "fewest"), mark(now, "now")].filter(Boolean);
  const click = (event) => {
    const svg = document.getElementById("pool-chart");
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    if (at >= left && at <= right) set({ servers: String(Math.max(1, Math.round(low + ((at - left) / (right - left)) * (high - low)))) });
  };
  return h("svg", { key: "chart", id: "pool-chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} with ${low} to ${serverWords(high)}`, on: { click } },
    h("g", { key: "axes", "aria-hidden": "true" },
      unstable && h("rect", { key: "shade", class: "shade", x: left, y: top, width: x(Math.min(load, high)) - left, height: bottom - top }),
      h("g", { key: "up" }, ticks(0, most, 5).map((value) => h("g", { key: value },
        h("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
        h("text", { class: "tick end", x: left - 7, y: y(value) + 4 }, shown(value))))),
      h("g", { key: "across" }, across.map((n) => h("text", { key: n, class: "tick middle", x: x(n), y: bottom + 16 }, manyWords(n)))),
      h("line", { key: "base", class: "base", x1: left, x2: right, y1: bottom, y2: bottom }),
      h("text", { key: "servers", class: "axis middle", x: (left + right) / 2, y: bottom + 33 }, unstable ? `servers; unstable up to ${manyWords(unstable)}` : "servers"),
      h("text", { key: "title", class: "axis", x: 4, y: 13 }, title)),
    wanted <= most && h("line", { key: "target", class: "pinned", x1: left, x2: right, y1: y(wanted), y2: y(wanted) }),
    h("path", { key: "curve", class: "curve stroke0", "data-curve": pool.measure, d: path }),
    high - low <= 60 && h("g", { key: "dots" }, visible.filter(({ value }) => value <= most).map(({ servers, value }) => h("circle", { key: servers, class: "fill0", cx: x(servers), cy: y(value), r: 2.5 }))),
    now >= low && now <= high && h("line", { key: "now", class: "cursor", x1: x(now), x2: x(now), y1: top, y2: bottom }),
    h("g", { key: "marks" }, marks.map(({ n, name, value }) => h("circle", { key: name, class: name === "now" ? "fill0" : "found stroke1 mark", cx: x(n), cy: y(value), r: name === "now" ? 4.5 : 7 }))));
}

async function copyPoolLines() {
  const answer = await answered(askOf("pool line", state.saved));
  copy("The same numbers by pfq", answer.line ?? answer.error);
}
