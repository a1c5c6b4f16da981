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
    autocomplete: "off", spellcheck: "false", inputmode: [isNumber, isSize, isPrice].includes(accept) ? "decimal" : null, placeholder: hint,
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
  const shownFor = want === aName ? "" : text === "" ? " The numbers are those of the last valid model." : ` The numbers are those for ${text}.`;
  return [input, h("span", { key: id, id, class: "field-error", role: "alert" }, `${typing.text.trim() || "Nothing here"}: want ${want}.${shownFor}`)];
}

const isNumber = (text) => !Number.isNaN(parseNumber(text));
const isSize = (text) => parseNumber(text) > 0;
const isPrice = (text) => parseNumber(text) >= 1e-100 && parseNumber(text) <= 1e100;
const aNumber = "a number from 0 to 1e308, such as 0.4, 2/5 or 4e-1";
const aSize = "a number above 0, such as 0.4, 2/5 or 4e-1";
const aPrice = "a number from 1e-100 to 1e100, such as 0.4, 2/5 or 4e-1";
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

// drawCountSlider describes a slider of whole numbers from 1 on.
function drawCountSlider({ key, label, value, words, set }) {
  const span = Math.min(mostInRow, Math.max(10, spanOf(key, value)));
  return h("input", {
    key, id: key, type: "range", min: 1, max: span, step: 1, value: String(Math.min(value, span)), "aria-label": label, "aria-valuetext": words,
    on: { input: (event) => set(event.target.value, key), change: () => { endGesture(); redraw(); } },
  });
}

// drawLoad describes the slider of the load.
function drawLoad(saved, seen) {
  const load = parseNumber(saved.load);
  const critical = limitOf(seen.verdict);
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

// The columns of the tables: a title, the name of the number in a row of the solution, its format, and how to find it if it is one
// of the distributions of times.
const serverColumns = [{ title: "Busy", id: "utilization", words: percent }];
const delayColumns = percentiles.map((p) => ({ title: `p${p}`, id: `p${p}`, times: (row) => row.delay?.[`p${p}`] }));
const waitingColumns = percentiles.map((p) => ({ title: `p${p}`, id: `p${p}`, times: (row) => row.waiting?.[`p${p}`] }));

// levelOf returns the fraction of jobs that are served within the time of the service level.
const levelOf = (row) => row.within?.[0]?.served ?? row.within?.[0]?.waiting;

function classColumns(saved, seen) {
  const delay = { title: "Mean delay", id: "mean_delay" };
  const waits = [{ title: "Waits", id: "wait_probability", words: percent }, { title: "Mean waiting", id: "mean_waiting" }];
  const jobs = { title: "Mean jobs", id: "mean_jobs" };
  switch (serviceOf(saved.model)) {
    case "gang":
      return [...waits, delay, { title: "Mean queue", id: "mean_queue" }];
    case "one":
      return [...waits, ...waitingColumns, { title: `Within ${saved.within} s`, id: "within", words: percent, times: levelOf },
        ...(givesUp(saved.model) ? [{ title: "Gives up", id: "abandon_probability", words: percent }] : []), delay];
  }
  return [jobs, delay, ...(seen.percentiles?.no_percentiles ? [] : delayColumns), { title: "Service rate", id: "service_rate" }];
}

// The fields of the tables next to the numbers: a slider with a field, then fields alone. all draws the field of all rows together.
function classFields({ model }) {
  const fields = [{ title: "Mean size", draw: (row) => drawSize(model, row), all: () => drawSizes(model) }];
  if (serviceOf(model) === "one") fields.push({ title: "Patience", draw: (row) => drawPatience(model, row), all: () => drawPatiences(model) });
  if (serviceOf(model) === "gang") fields.unshift({ title: "Needs", draw: (row) => drawNeeds(model, row), all: () => null });
  return fields;
}

function serverFields(saved) {
  const { model } = saved;
  const key = (row) => `capacity/${row.name}`;
  const capacity = { title: "Capacity", draw: (row) => drawField({
    key: `${key(row)}/text`, label: `Capacity of ${row.name}, units of work per second`, text: row.capacity, wide: 4, accept: isSize, want: aSize,
    set: (text) => edit(withRow(model, "servers", row.name, { capacity: text }), key(row)) }) };
  const price = { title: "Cost", draw: (row) => drawField({
    key: `price/${row.name}`, label: `Cost of one more server ${row.name}`, text: priceOf(saved, row.name), wide: 3, accept: isPrice, want: aPrice,
    set: (text) => save({ prices: { ...saved.prices, servers: { ...saved.prices.servers, [row.name]: text } } }, `price/${row.name}`) }) };
  return serviceOf(model) === "one" ? [capacity, price] : [price];
}

// The sliders of the tables: arrival rates; capacities, or numbers of servers if a job runs on one or has several.
const rateInput = {
  title: "Arrival rate (jobs/s)", label: "Arrival rate", unit: "jobs per second", field: "arrival_rate", of: (row) => row.arrival_rate,
  set: (model, row, text) => withRow(model, "classes", row.name, { arrival_rate: text }),
};
const capacityInput = {
  title: "Capacity (work/s)", label: "Capacity", unit: "units of work per second", field: "capacity", of: (row) => row.capacity,
  set: (model, row, text) => withRow(model, "servers", row.name, { capacity: text }),
};
const countInput = {
  title: "Servers", label: "Number of servers", unit: "servers", field: "count", of: (row) => String(row.count ?? 1), isCount: true,
  set: (model, row, text) => count(model, row.name, Number(text)),
};
const mostInRow = 1e6;
const aCount = `a whole number from 1 to ${mostInRow}`;

function drawTable(saved, seen, rows, columns, input, fields) {
  const { model, pinned } = saved;
  const isClass = rows === "classes";
  const stable = seen.solution?.stable;
  const cells = (row, i) => columns.map(({ title, id, words, times }) => {
    const of = times ?? ((row) => row[id]);
    const from = times ? seen.percentiles : seen.solution;
    const value = stable && from?.stable ? of(from[rows][i]) : null;
    const k = pinned ? pinned.model[rows].findIndex(({ name }) => name === row.name) : -1;
    const other = times ? seen.pinnedPercentiles : seen.pinnedSolution;
    const before = k >= 0 && other?.stable ? of(other[rows][k]) : null;
    return h("td", { key: id, role: "cell", class: "number", "data-title": title, "data-cell": `${rows}/${row.name}/${id}` }, drawNumber(value, words), drawChange(value, before));
  });
  const body = model[rows].map((row, i) => {
    const value = parseNumber(input.of(row));
    const key = `${input.field}/${row.name}${input.isCount ? "/slider" : ""}`;
    const set = (text, gesture) => edit(input.set(saved.model, row, text), gesture);
    const slider = input.isCount ? drawCountSlider : drawSlider;
    const chosen = state.selected?.rows === rows && state.selected.name === row.name;
    return h("tr", { key: row.name, role: "row", class: chosen ? "chosen" : null },
      h("th", { key: "name", role: "rowheader", scope: "row" }, isClass && h("span", { class: `key ${i % 14 < 7 ? "" : "hollow "}back${i % 7}` }), row.name, row.count > 1 && h("span", { class: "quiet" }, ` ×${row.count}`)),
      h("td", { key: "input", role: "cell" }, h("span", { class: "inputs" },
        slider({ key, label: `${input.label} of ${row.name}`, value, words: `${input.of(row)} ${input.unit}`, set }),
        drawField({ key: `${key}/text`, label: `${input.label} of ${row.name}, exact`, text: input.of(row), wide: 5, ...(input.isCount ? { accept: (text) => isCount(text, mostInRow), want: aCount, last: true } : { accept: isNumber, want: aNumber }), set: (text) => set(text, input.isCount ? null : `${key}/text`) }))),
      fields.map(({ title, draw }) => h("td", { key: title, role: "cell", class: "size", "data-title": title }, draw(row))),
      cells(row, i));
  });
  return h("div", { class: `scroll ${rows}${serviceOf(model) === "one" ? " alone" : ""}` }, h("table", { id: rows, role: "table" },
    h("caption", null, isClass ? "Classes" : "Servers"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, h("th", { scope: "col", role: "columnheader" }, "Name"), h("th", { scope: "col", role: "columnheader" }, input.title),
      fields.map(({ title }) => h("th", { key: title, scope: "col", role: "columnheader" }, title)),
      columns.map(({ title, id }) => h("th", { key: id, scope: "col", role: "columnheader", class: "number" }, title)))),
    h("tbody", { role: "rowgroup" }, body, isClass && drawTotal(saved, seen, columns, fields))));
}

// drawSize describes the mean size of a class, and drawSizes that of all classes, empty if they differ.
function drawSize(model, row) {
  const key = `mean_size/${row.name}/text`;
  return drawField({ key, label: `Mean size of ${row.name}, units of work`, text: sizeOf(model, row), wide: 4, accept: isSize, want: aSize, set: (text) => edit(resize(model, row.name, text), key) });
}

function drawSizes(model) {
  const one = model.classes.every((row) => sizeOf(model, row) === sizeOf(model, model.classes[0]));
  return drawField({ key: "mean_size", label: "Mean size of all classes, units of work", text: one ? sizeOf(model, model.classes[0]) : "", hint: one ? null : "differ", wide: 4, accept: isSize, want: aSize, set: (text) => edit(resizeAll(model, text), "mean_size") });
}

// drawPatience describes the mean patience of a class, and drawPatiences that of all classes, empty if they differ or jobs never give up.
const isPatience = (text) => text.trim() === "" || isNumber(text);
const aPatience = "a number from 0 to 1e308, or nothing if jobs never give up";

function drawPatience(model, row) {
  const key = `mean_patience/${row.name}/text`;
  return drawField({ key, label: `Mean patience of ${row.name}, seconds; empty if its jobs never give up`, text: patienceOf(model, row), hint: "never", wide: 4, accept: isPatience, want: aPatience, set: (text) => edit(setPatience(model, row.name, text), key) });
}

function drawPatiences(model) {
  const all = new Set(model.classes.map((row) => patienceOf(model, row)));
  return drawField({ key: "mean_patience", label: "Mean patience of all classes, seconds; empty if jobs never give up", text: all.size === 1 ? [...all][0] : "", hint: all.size === 1 ? "never" : "differ", wide: 4, accept: isPatience, want: aPatience, set: (text) => edit(setPatienceOfAll(model, text), "mean_patience") });
}

// drawNeeds describes the servers that each job of a class holds: a field for one row of servers, otherwise words.
function drawNeeds(model, row) {
  const [only, ...others] = choicesOf(row);
  if (others.length > 0) return choicesOf(row).map(({ group, choose }) => `${choose} ${group}`).join(", ");
  const server = model.servers.find(({ name }) => name === only.group);
  const most = server.count ?? 1;
  return drawField({ key: `needs/${row.name}`, label: `Servers of ${server.name} that each job of ${row.name} holds`, text: String(only.choose), wide: 4, accept: (text) => isCount(text, most), want: `a whole number from 1 to ${most}`, set: (text) => edit(choose(model, row.name, server, Number(text)), `needs/${row.name}`) });
}

// drawTotal describes the row of all classes together.
function drawTotal(saved, seen, columns, fields) {
  const { solution } = seen;
  const cell = ({ id, words }) => solution?.stable && id in solution && [drawNumber(solution[id], words), drawChange(solution[id], seen.pinnedSolution?.stable ? seen.pinnedSolution[id] : null)];
  return h("tr", { key: "all classes", role: "row", class: "total" }, h("th", { scope: "row", role: "rowheader" }, "all classes"), h("td", { role: "cell" }),
    fields.map(({ title, all }) => h("td", { key: title, role: "cell", class: "size", "data-title": title }, all())),
    columns.map((column) => h("td", { key: column.id, role: "cell", class: "number", "data-title": column.title, "data-cell": `all/${column.id}` }, cell(column))));
}

// drawTables describes both tables, and notes if there are no percentiles, or if mean sizes differ.
function drawTables(saved, seen) {
  const service = serviceOf(saved.model);
  const why = seen.percentiles?.no_percentiles;
  const differ = service === "all" && !hasOneSize(saved.model);
  const notes = [why && `No percentiles: ${why}.`, differ && "Mean delays are those of balanced fairness.", service === "one" && "Percentiles are those of the waiting time."].filter(Boolean);
  return [
    drawTable(saved, seen, "classes", classColumns(saved, seen), rateInput, classFields(saved)),
    notes.length > 0 && h("p", { key: "why", class: "quiet" }, notes.join(" ")),
    drawTable(saved, seen, "servers", serverColumns, service === "all" ? capacityInput : countInput, serverFields(saved)),
    service === "one" && h("p", { key: "level", class: "bar level" },
      h("label", { for: "within" }, "Service level: served within"),
      drawField({ key: "within", label: "Service level: served within, seconds", text: saved.within, wide: 5, accept: isNumber, want: aNumber, set: (text) => save({ within: text }, "within") }), "s"),
  ];
}

// drawChanges describes the single changes that help most per unit of cost.
const measured = { mean_delay: "mean delay of all jobs", mean_waiting: "mean waiting of all jobs", abandon_probability: "jobs that give up" };

function drawChanges(saved, seen) {
  const { changes } = seen;
  const list = changes?.changes?.map((one, i) => {
    const effects = saved.model.classes.map((row, k) => ({ name: row.name, part: one.classes[k] })).filter(({ part }) => part !== null && Math.abs(part) >= 0.0005)
      .sort((a, b) => a.part - b.part);
    const told = effects.length > 4 ? [...effects.slice(0, 2), ...effects.slice(-2).filter(({ part }) => part > 0)] : effects;
    return h("li", { key: one.words },
      h("button", { type: "button", on: { click: () => edit(one.model) } }, one.words),
      h("span", { class: "effect" }, h("b", null, change(one.total)), ` ${measured[changes.measure]}`, h("span", { class: "quiet" }, ` at cost ${shown(one.cost)}: ${change(one.per_cost)} per unit`)),
      h("span", { class: "quiet" }, told.map(({ name, part }) => `${name} ${change(part)}`).join(", ")));
  });
  return h("section", { class: "panel", id: "changes", "aria-label": "Next best changes", "aria-busy": String(!changes) },
    h("div", { class: "bar" }, h("h2", null, "Next best changes"),
      serviceOf(saved.model) !== "gang" && h("label", { class: "quiet" }, "a connection costs ", drawField({ key: "price", label: "Cost of one more connection", text: saved.prices.connection, wide: 3, accept: isPrice, want: aPrice, set: (text) => save({ prices: { ...saved.prices, connection: text } }, "price") }))),
    changes?.error ? h("p", { class: "quiet" }, changes.error)
      : list?.length > 0 ? h("ol", { class: "changes" }, list)
      : h("p", { class: "quiet" }, seen.solution?.error ? `They need exact ${serviceOf(saved.model) === "all" ? "delays" : "waits"}.` : !changes ? "…" : seen.solution && !seen.solution.stable ? `There are no ${serviceOf(saved.model) === "all" ? "delays" : "waits"} to lower while the cluster is unstable.` : "None of the changes that were tried helps."));
}
