// The tables of classes and servers, with the fields and sliders that change them.

const invalid = new Set(); // keys of the fields in this drawing with texts that are not numbers

// drawField describes a field for a number or a name, and a message if its text is invalid: that text stays
// until it is corrected, and changes nothing. Valid texts apply immediately, with last only when the user leaves
// the field.
function drawField({ key, label, text, wide, accept, want, set, last, hint }) {
  const typed = state.typing[key];
  if (typed?.bad) typed.saved ??= text;
  const typing = typed?.bad && typed.saved !== text ? undefined : typed; // something else has changed the number
  const id = `${key}/error`.replaceAll(/\s/g, "_");
  const type = (entry) => {
    const { [key]: _, ...others } = state.typing;
    show({ typing: entry ? { ...others, [key]: entry } : others });
  };
  const end = () => {
    const current = state.typing[key];
    endGesture();
    if (!current || current.bad) return redraw();
    type(null);
    if (last && current.text !== text) set(current.text);
  };
  const bad = typing?.bad ?? false;
  if (bad && want !== aName) invalid.add(key);
  const input = h("input", {
    key, id: key, type: "text", size: wide, value: typing ? typing.text : text, "aria-label": label, "aria-invalid": bad ? "true" : null, "aria-describedby": bad ? id : null,
    autocomplete: "off", spellcheck: "false", inputmode: accept === isNumber || accept === isSize ? "decimal" : null, placeholder: hint,
    on: {
      input: (event) => {
        const now = event.target.value;
        const good = accept(now);
        type({ text: now, bad: !good });
        if (good && !last) set(now.trim());
      },
      blur: end,
      keydown: (event) => {
        if (event.key === "Enter") end();
        if (event.key === "Escape" && typing) type(null);
      },
    },
  });
  if (!bad) return input;
  const shownFor = want === aName ? "" : text === "" ? " The numbers are those of the last valid sizes." : ` The numbers are those for ${text}.`;
  return [input, h("span", { key: id, id, class: "field-error", role: "alert" }, `${typing.text.trim() || "Nothing here"}: want ${want}.${shownFor}`)];
}

const isNumber = (text) => !Number.isNaN(parseNumber(text));
const isSize = (text) => parseNumber(text) > 0;
const aNumber = "a number from 0 to 1e308, such as 0.4, 2/5 or 4e-1";
const aSize = "a number above 0, such as 0.4, 2/5 or 4e-1";
const aName = "a name";

// A slider goes from 0 to a round number that is at least twice the value, in 200 steps. While it is dragged, its end does not change.
const steps = 200;
const spans = new Map();

function spanOf(key, value) {
  if (state.gesture !== key || !spans.has(key)) spans.set(key, value > 0 ? niceAbove(2 * value) : 1);
  return spans.get(key);
}

function drawSlider({ key, label, value, most, words, set }) {
  const span = most ?? spanOf(key, value);
  return h("input", {
    key, id: key, type: "range", min: 0, max: steps, step: 1, value: String(Math.round(Math.min(1, value / span) * steps)), "aria-label": label, "aria-valuetext": words,
    on: {
      input: (event) => set(decimalText((Number(event.target.value) * span) / steps), key),
      change: () => { endGesture(); redraw(); },
    },
  });
}

// drawLoad describes the slider of the load.
function drawLoad(saved, seen) {
  const load = parseNumber(saved.load);
  const critical = seen.verdict?.critical_load ?? null;
  const set = (text, gesture) => save({ load: text }, gesture);
  const most = critical === null ? undefined : spanOf("load", Math.max(0.6 * critical, load / 1.8));
  return h("div", { class: "load" },
    h("label", { for: "load" }, "Load"),
    drawSlider({ key: "load", label: "Load", value: load, most, words: `${saved.load} times the arrival rates`, set }),
    drawField({ key: "load-text", label: "Load, factor of all arrival rates", text: saved.load, wide: 6, accept: isNumber, want: aNumber, set: (text) => set(text, "load-text") }),
    h("span", { class: "quiet" }, "× the arrival rates"));
}

// drawNumber describes a number of an answer: rounded for display, in full for programs and on hover.
function drawNumber(value, words = shown) {
  if (value === null || value === undefined) return h("span", { class: "quiet" }, "–");
  return h("data", { value: String(value), title: String(value) }, words(value));
}

// drawChange describes the difference of a number from that of the pinned variant.
function drawChange(value, pinned) {
  if (pinned === null || pinned === undefined || value === null || value === undefined || pinned === 0) return null;
  return h("span", { class: "change" }, change(value / pinned - 1));
}

// The columns of the tables: a title, the name of the number in a row of the solution, and its format.
const classColumns = [
  { title: "Mean jobs", id: "mean_jobs" },
  { title: "Mean delay", id: "mean_delay" },
  ...percentiles.map((p) => ({ title: `p${p}`, id: `p${p}`, percentile: true })),
  { title: "Service rate", id: "service_rate" },
];
const serverColumns = [{ title: "Busy", id: "utilization", words: percent }];

function drawTable(saved, seen, rows, columns, input) {
  const { model, pinned } = saved;
  const isClass = rows === "classes";
  const stable = seen.solution?.stable;
  const cells = (row, i) => columns.map(({ title, id, words, percentile }) => {
    const of = (row) => (percentile ? row.delay?.[id] : row[id]);
    const from = percentile ? seen.percentiles : seen.solution;
    const value = stable && from?.stable ? of(from[rows][i]) : null;
    const k = pinned ? pinned.model[rows].findIndex(({ name }) => name === row.name) : -1;
    const other = percentile ? seen.pinnedPercentiles : seen.pinnedSolution;
    const before = k >= 0 && other?.stable ? of(other[rows][k]) : null;
    return h("td", { key: id, role: "cell", class: "number", "data-title": title, "data-cell": `${rows}/${row.name}/${id}` }, drawNumber(value, words), drawChange(value, before));
  });
  const body = model[rows].map((row, i) => {
    const value = parseNumber(row[input.field]);
    const key = `${input.field}/${row.name}`;
    const set = (text, gesture) => edit(withRow(saved.model, rows, row.name, { [input.field]: text }), gesture);
    const chosen = state.selected?.rows === rows && state.selected.name === row.name;
    return h("tr", { key: row.name, role: "row", class: chosen ? "chosen" : null },
      h("th", { key: "name", role: "rowheader", scope: "row" }, isClass && h("span", { class: `key ${i % 14 < 7 ? "" : "hollow "}back${i % 7}` }), row.name, row.count > 1 && h("span", { class: "quiet" }, ` ×${row.count}`)),
      h("td", { key: "input", role: "cell" }, h("span", { class: "inputs" },
        drawSlider({ key, label: `${input.label} of ${row.name}`, value, words: `${row[input.field]} ${input.unit}`, set }),
        drawField({ key: `${key}/text`, label: `${input.label} of ${row.name}, exact`, text: row[input.field], wide: 5, accept: isNumber, want: aNumber, set: (text) => set(text, `${key}/text`) }))),
      isClass && drawSize(saved, row),
      cells(row, i));
  });
  return h("div", { class: `scroll ${rows}` }, h("table", { id: rows, role: "table" },
    h("caption", null, isClass ? "Classes" : "Servers"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, h("th", { scope: "col", role: "columnheader" }, "Name"), h("th", { scope: "col", role: "columnheader" }, input.title),
      isClass && h("th", { key: "size", scope: "col", role: "columnheader" }, sizeTitle),
      columns.map(({ title, id }) => h("th", { key: id, scope: "col", role: "columnheader", class: "number" }, title)))),
    h("tbody", { role: "rowgroup" }, body, isClass && drawTotal(saved, seen, columns))));
}

const sizeTitle = "Mean size";

// drawSize describes the mean size of a class, and drawSizes that of all classes, empty if they differ.
function drawSize(saved, row) {
  const key = `mean_size/${row.name}/text`;
  return h("td", { key: "size", role: "cell", class: "size", "data-title": sizeTitle },
    drawField({ key, label: `Mean size of ${row.name}, units of work`, text: sizeOf(saved.model, row), wide: 4, accept: isSize, want: aSize, set: (text) => edit(resize(saved.model, row.name, text), key) }));
}

function drawSizes({ model }) {
  const one = model.classes.every((row) => sizeOf(model, row) === sizeOf(model, model.classes[0]));
  return h("td", { key: "size", role: "cell", class: "size", "data-title": sizeTitle },
    drawField({ key: "mean_size", label: "Mean size of all classes, units of work", text: one ? sizeOf(model, model.classes[0]) : "", hint: one ? null : "differ", wide: 4, accept: isSize, want: aSize, set: (text) => edit(resizeAll(model, text), "mean_size") }));
}

// drawTotal describes the row of all classes together.
function drawTotal(saved, seen, columns) {
  const { solution } = seen;
  return h("tr", { key: "all classes", role: "row", class: "total" }, h("th", { scope: "row", role: "rowheader" }, "all classes"), h("td", { role: "cell" }), drawSizes(saved),
    columns.map(({ id, title }) => h("td", { key: id, role: "cell", class: "number", "data-title": title, "data-cell": `all/${id}` }, solution?.stable && id in solution && [drawNumber(solution[id]), drawChange(solution[id], seen.pinnedSolution?.stable ? seen.pinnedSolution[id] : null)])));
}

// drawTables describes both tables, and notes if there are no percentiles, or if mean sizes differ.
function drawTables(saved, seen) {
  const why = seen.percentiles?.no_percentiles;
  return [
    drawTable(saved, seen, "classes", why ? classColumns.filter(({ percentile }) => !percentile) : classColumns, { field: "arrival_rate", title: "Arrival rate (jobs/s)", label: "Arrival rate", unit: "jobs per second" }),
    (why || !hasOneSize(saved.model)) && h("p", { key: "why", class: "quiet" },
      [why && `No percentiles: ${why}.`, !hasOneSize(saved.model) && "Mean delays are those of balanced fairness."].filter(Boolean).join(" ")),
    drawTable(saved, seen, "servers", serverColumns, { field: "capacity", title: "Capacity (work/s)", label: "Capacity", unit: "units of work per second" }),
  ];
}

// drawChanges describes the single changes that help most.
function drawChanges(saved, seen) {
  const { changes } = seen;
  const list = changes?.changes?.map((one, i) => {
    const effects = saved.model.classes.map((row, k) => ({ name: row.name, part: one.classes[k] })).filter(({ part }) => part !== null && Math.abs(part) >= 0.0005)
      .sort((a, b) => a.part - b.part);
    const told = effects.length > 4 ? [...effects.slice(0, 2), ...effects.slice(-2).filter(({ part }) => part > 0)] : effects;
    return h("li", { key: one.words },
      h("button", { type: "button", on: { click: () => edit(one.model) } }, one.words),
      h("span", { class: "effect" }, h("b", null, change(one.total)), " mean delay of all jobs"),
      h("span", { class: "quiet" }, told.map(({ name, part }) => `${name} ${change(part)}`).join(", ")));
  });
  return h("section", { class: "panel", id: "changes", "aria-label": "Next best changes", "aria-busy": String(!changes) },
    h("h2", null, "Next best changes"),
    changes?.error ? h("p", { class: "quiet" }, changes.error)
      : list?.length > 0 ? h("ol", { class: "changes" }, list)
      : h("p", { class: "quiet" }, seen.solution?.error ? "They need exact delays." : !changes ? "…" : seen.solution && !seen.solution.stable ? "There are no delays to lower while the cluster is unstable." : "None of the changes that were tried helps."));
}
