// The graph of classes and servers: which classes run on which servers. A click or Enter selects a node. Drawing a line
// between a class and a server connects them, as do the boxes below the graph.

const graph = { width: 440, node: 164, row: 50, height: 36, edge: 6 };
let pulled = null; // the line that is being drawn: { rows, name, x, y }
let focusedNode = null; // the one node that Tab reaches: rows/name

// drawGraph describes the graph. seen has verdict and solution, null if unknown.
function drawGraph(saved, seen) {
  const { model } = saved;
  const load = parseNumber(saved.load);
  const places = { classes: placesOf(model.classes, model.servers), servers: placesOf(model.servers, model.classes) };
  const tall = Math.max(model.classes.length, model.servers.length) * graph.row + 4;
  const titles = { classes: model.classes.map(titleOf), servers: model.servers.map(titleOf) };
  const nodes = [...model.classes.map((row) => ["classes", row.name]), ...model.servers.map((row) => ["servers", row.name])];
  if (!nodes.some((node) => node.join("/") === focusedNode)) focusedNode = nodes[0].join("/");
  const ringed = (rows, i) => seen.verdict?.[`bottleneck_${rows}`]?.includes(i) ?? false;
  const unstable = seen.verdict && !seen.verdict.stable;

  const edges = model.classes.flatMap((row, i) => choicesOf(row).map((choice) => {
    const k = model.servers.findIndex((server) => sameName(choice, server.name));
    const { selected } = state;
    const lit = !selected || (selected.rows === "classes" ? selected.name === row.name : selected.name === model.servers[k].name);
    const number = isTold(model, choice, model.servers[k]) && choice.choose;
    return drawEdge(places.classes[i], places.servers[k], number, serviceOf(model) === "gang", lit, i);
  }));
  const classes = model.classes.map((row, i) => drawNode("classes", row, places.classes[i], nodes, {
    ringed: ringed("classes", i), unstable, color: i, others: titles.classes,
    text: `${shown(parseNumber(row.arrival_rate) * load)}/s`,
    label: `class ${row.name}, ${shown(parseNumber(row.arrival_rate) * load)} jobs per second, on ${choicesOf(row).map((choice) => choice.group ?? choice).join(", ")}`,
  }));
  const servers = model.servers.map((row, k) => {
    const busy = seen.solution?.stable ? seen.solution.servers[k].utilization : null;
    return drawNode("servers", row, places.servers[k], nodes, {
      ringed: ringed("servers", k), unstable, busy, others: titles.servers,
      text: busy === null ? "" : percent(busy, 0),
      label: `${row.count > 1 ? `group of ${row.count} servers` : "server"} ${row.name}${row.capacity ? `, capacity ${row.capacity}` : ""}${busy === null ? "" : `, busy ${percent(busy)}`}`,
    });
  });
  const line = pulled && [h("line", { key: "pulled", class: "pulled", x1: pulled.fromX, y1: pulled.fromY, x2: pulled.x, y2: pulled.y })];
  return h("svg", {
    id: "graph", role: "group", "aria-label": "Graph of classes and servers", viewBox: `0 0 ${graph.width} ${tall}`,
    on: { pointermove: pullOn, pointerup: pullEnd, pointercancel: pullCancel, keydown: (event) => graphKey(event, nodes) },
  }, h("g", { key: "edges", class: "edges" }, edges), line, classes, servers);
}

// isTold reports whether the number of servers of a choice is shown: for gangs, for servers drawn from a group, and unless a job may
// run on any server of a row.
const isTold = (model, choice, server) => serviceOf(model) === "gang" || (server.count > 1 && !(serviceOf(model) === "one" && choice.choose === server.count));

const titleOf = (row) => row.name + (row.count > 1 ? ` ×${row.count}` : "");

// placesOf returns the heights of the nodes of one side, centred if the other side is taller.
function placesOf(list, others) {
  const rest = Math.max(0, others.length - list.length) * graph.row;
  return list.map((_, i) => graph.row * i + graph.row / 2 + (rest * (i + 0.5)) / list.length + 2);
}

// drawEdge describes a line. The number of servers is at its end, or near the class, where it differs from line to line.
function drawEdge(from, to, number, isNearClass, lit, color) {
  const left = graph.edge + graph.node;
  const right = graph.width - left;
  const middle = (left + right) / 2;
  const place = isNearClass ? { x: left + 0.342 * (right - left) + (to < from ? -3 : 9), y: from + 0.216 * (to - from) - 4 } : { x: right - 5, y: to - 5 };
  return h("g", { class: lit ? "edge" : "edge dim" },
    h("path", { class: `stroke${color % 7}`, d: `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}` }),
    number && h("text", { class: "choose", ...place }, number));
}

function drawNode(rows, row, y, nodes, look) {
  const { node, height, edge, width } = graph;
  const x = rows === "classes" ? edge : width - edge - node;
  const key = `${rows}/${row.name}`;
  const pressed = state.selected?.rows === rows && state.selected.name === row.name;
  const round = rows === "classes" ? height / 2 : 5;
  const name = titleOf(row);
  return h("g", {
    key, class: `node ${rows}${pressed ? " pressed" : ""}`, role: "button", tabindex: key === focusedNode ? 0 : -1, "aria-pressed": String(pressed),
    "aria-label": look.label + (look.ringed ? `, in the bottleneck${look.unstable ? ", overloaded" : ""}` : ""), "data-node": key,
    on: {
      pointerdown: (event) => pullStart(event, rows, row.name, x + node / 2, y),
      focus: () => { if (focusedNode !== key) { focusedNode = key; redraw(); } },
    },
  },
    h("title", null, name),
    look.ringed && h("rect", { key: "ring", class: look.unstable ? "ring over" : "ring", x: x - 4, y: y - height / 2 - 4, width: node + 8, height: height + 8, rx: round + 4 }),
    h("rect", { key: "box", class: "box", x, y: y - height / 2, width: node, height, rx: round }),
    look.busy !== undefined && h("rect", { key: "busy", class: "busy", x: x + 1.5, y: y + height / 2 - 6, width: Math.max(0, (node - 3) * (look.busy ?? 0)), height: 4.5, rx: 2 }),
    rows === "classes" && h("circle", { key: "dot", class: look.color % 14 < 7 ? `fill${look.color % 7}` : `hollow stroke${look.color % 7}`, cx: x + 16, cy: y, r: look.color % 14 < 7 ? 5 : 4 }),
    h("text", { key: "name", class: "name", x: x + (rows === "classes" ? 28 : 12), y: y + (rows === "classes" ? 4.5 : 2) }, shorten(name, rows === "classes" ? 11 : 13, look.others)),
    h("text", { key: "number", class: "number", x: x + node - 12, y: y + (rows === "classes" ? 4.5 : 2) }, look.text));
}

// shorten returns the beginning of a long name, and its end as well if another name begins in the same way.
function shorten(text, most, others) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const begin = letters.slice(0, most - 1).join("");
  if (!others.some((other) => other !== text && other.startsWith(begin))) return `${begin}…`;
  const half = Math.floor((most - 1) / 2);
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

function select(rows, name) {
  const same = state.selected?.rows === rows && state.selected.name === name;
  show({ selected: same ? null : { rows, name }, message: "" });
}

// Drawing a line from a class to a server, or the other way round.

function graphPoint(event) {
  const svg = document.getElementById("graph");
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return { x: point.x, y: point.y };
}

function pullStart(event, rows, name, fromX, fromY) {
  if (event.button !== 0) return;
  pulled = { rows, name, fromX, fromY, ...graphPoint(event), moved: false };
  if (event.pointerType !== "mouse") document.getElementById("graph").setPointerCapture?.(event.pointerId);
}

function pullOn(event) {
  if (!pulled) return;
  const at = graphPoint(event);
  pulled = { ...pulled, ...at, moved: pulled.moved || Math.hypot(at.x - pulled.fromX, at.y - pulled.fromY) > graph.node / 2 + 8 };
  if (pulled.moved) redraw();
}

function pullEnd(event) {
  if (!pulled) return;
  const { rows, name, moved } = pulled;
  pulled = null;
  const over = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-node]")?.dataset.node;
  if (over === `${rows}/${name}`) return select(rows, name);
  const [otherRows, ...rest] = (over ?? "").split("/");
  if (!moved || !over || otherRows === rows) return redraw();
  const other = rest.join("/");
  edit(rows === "classes" ? connect(state.saved.model, name, other) : connect(state.saved.model, other, name));
}

function pullCancel() {
  pulled = null;
  redraw();
}

// graphKey: arrows go from node to node, Enter selects, Delete removes.
function graphKey(event, nodes) {
  const at = nodes.findIndex((node) => node.join("/") === focusedNode);
  const [rows, name] = nodes[at];
  const { classes, servers } = state.saved.model;
  const index = rows === "classes" ? at : at - classes.length;
  const keys = {
    ArrowDown: () => goTo(rows, Math.min(index + 1, state.saved.model[rows].length - 1)),
    ArrowUp: () => goTo(rows, Math.max(index - 1, 0)),
    ArrowRight: () => goTo("servers", Math.min(index, servers.length - 1)),
    ArrowLeft: () => goTo("classes", Math.min(index, classes.length - 1)),
    Enter: () => select(rows, name),
    " ": () => select(rows, name),
    Escape: () => show({ selected: null }),
    Delete: () => remove(rows, name),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

function goTo(rows, index) {
  focusedNode = `${rows}/${state.saved.model[rows][index].name}`;
  document.querySelector(`[data-node="${CSS.escape(focusedNode)}"]`)?.focus();
  redraw();
}

function remove(rows, name) {
  const { saved } = state;
  if (rows === "classes") return edit(removeClass(saved.model, name));
  const model = removeServer(saved.model, name);
  if (typeof model === "string") return edit(model);
  save({ model, prices: withoutPrice(saved, name) });
}

// drawInspector describes the form of the selected node.
function drawInspector(saved) {
  const { model } = saved;
  const { selected } = state;
  if (!selected) {
    return h("p", { class: "quiet" }, "Select a class or a server to change it. Draw a line between two to connect or disconnect them. Rings mark what is overloaded first; bars show how busy servers are.");
  }
  const { rows, name } = selected;
  const row = model[rows].find((one) => one.name === name);
  const isClass = rows === "classes";
  const others = isClass ? model.servers : model.classes;
  const boxes = others.map((other) => {
    const [one, server] = isClass ? [row, other] : [other, row];
    const on = isOn(one, server);
    const choice = choicesOf(one).find((choice) => sameName(choice, server.name));
    return h("span", { key: other.name, class: "pair" },
      h("label", { key: "box" }, h("input", { type: "checkbox", checked: on, on: { change: () => edit(connect(model, one.name, server.name)) } }), h("span", null, other.name)),
      on && isTold(model, choice, server) && drawField({ key: `choose/${one.name}/${server.name}`, label: `Servers of ${server.name} that each job of ${one.name} ${serviceOf(model) === "gang" ? "holds" : "draws"}`, text: String(choice.choose), wide: 4,
        accept: (text) => isCount(text, server.count ?? 1), want: `a whole number from 1 to ${server.count ?? 1}`, set: (text) => edit(choose(model, one.name, server, Number(text))) }));
  });
  return h("form", { key: `${rows}/${name}`, class: "inspector", "aria-label": `${isClass ? "Class" : "Server"} ${name}`, on: { submit: (event) => event.preventDefault() } },
    h("div", { class: "fields" },
      h("label", null, "Name ", drawField({ key: `name/${rows}/${name}`, label: "Name", text: name, wide: 14, accept: (text) => text.trim() !== "", want: aName, last: true,
        set: (text) => renameTo(rows, name, text.trim()) })),
      !isClass && h("label", null, "Servers ", drawField({ key: `count/${name}`, label: "Number of equal servers", text: String(row.count ?? 1), wide: 6, last: true,
        accept: (text) => isCount(text, mostInRow), want: aCount, set: (text) => edit(count(model, name, Number(text))) })),
      isClass && patienceOf(model, row) !== "" && drawDistribution(model, row),
      h("button", { type: "button", on: { click: () => remove(rows, name) } }, isClass ? "Remove class" : "Remove server")),
    h("fieldset", null, h("legend", null, isClass ? (serviceOf(model) === "gang" ? "Holds at once" : "Runs on") : "Serves"), boxes));
}

// drawDistribution describes the choice of the distribution of the patience of a class.
function drawDistribution(model, row) {
  const now = distributionOf(model, row);
  const names = ["exponential", "deterministic", "erlang:2", "uniform"];
  return h("label", { key: "distribution" }, "Patience ", h("select", {
    id: `patience/${row.name}`, "aria-label": `Distribution of the patience of ${row.name}`, value: now,
    on: { change: (event) => edit(setPatience(model, row.name, patienceOf(model, row), event.target.value)) },
  }, [...names, ...(names.includes(now) ? [] : [now])].map((name) => h("option", { key: name, value: name }, name))));
}

const isCount = (text, most) => /^[1-9]\d{0,6}$/.test(text) && Number(text) <= most;

function renameTo(rows, from, to) {
  if (from === to) return;
  const { saved } = state;
  const renamed = rename(saved.model, rows, from, to);
  if (typeof renamed === "string") return show({ message: renamed });
  focusedNode = `${rows}/${to}`;
  state.selected = { rows, name: to };
  if (rows === "classes" || !hasPrice(saved, from)) return edit(renamed);
  const prices = withoutPrice(saved, from);
  save({ model: renamed, prices: { ...prices, servers: { ...prices.servers, [to]: priceOf(saved, from) } } });
}
