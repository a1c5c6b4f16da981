// The page as a whole: its head, the verdict, the panels, and how it starts.

const held = {}; // the last answers, shown while the next are on their way

// answersNow returns the answers that the page shows.
function answersNow(saved) {
  const { pinned } = saved;
  const shape = (model) => [serviceOf(model), givesUp(model), ...[...model.classes, ...model.servers].map((row) => row.name)].join("/");
  const hold = (slot, variant, question) => {
    const answer = variant && answerTo(question);
    const kind = variant && shape(variant.model);
    if (answer) held[slot] = { kind, answer };
    return held[slot]?.kind === kind ? held[slot].answer : null;
  };
  return {
    verdict: hold("verdict", saved, verdictOf(saved)),
    solution: hold("solution", saved, solutionOf(saved)),
    percentiles: hold("percentiles", saved, percentilesOf(saved)),
    changes: answerTo(changesOf(saved)) ?? null,
    pinnedSolution: pinned && hold("pinnedSolution", pinned, solutionOf(pinned)),
    pinnedPercentiles: pinned && hold("pinnedPercentiles", pinned, percentilesOf(pinned)),
    current: Boolean(answerTo(verdictOf(saved)) && answerTo(solutionOf(saved))),
  };
}

function draw() {
  const { saved } = state;
  if (!saved.model) return;
  patch(document.getElementById("tabs"), drawTabs(Object.keys(tabs), (tab) => tabs[tab], saved.tab, (tab) => save({ tab })));
  patch(document.getElementById("tools"), drawTools(saved));
  invalid.clear();
  const isPool = saved.tab === "pool";
  const main = document.getElementById("main");
  const sheet = isPool ? drawPool(saved) : drawCluster(saved, main);
  if (isPool) main.setAttribute("aria-busy", String(!isPoolCurrent(saved)));
  document.title = `${isPool ? "pool" : saved.name || "model"} – what if`;
  main.classList.toggle("stale", invalid.size > 0 || (!isPool && Boolean(state.draft?.error)));
  patch(main, h("div", { key: saved.tab, class: `sheet ${saved.tab}`, role: "tabpanel", "aria-labelledby": `tab-${saved.tab}` }, sheet), drawDialog());
  patch(document.getElementById("message"), state.message);
  patch(document.getElementById("about"), about[saved.tab]);
}

const tabs = { cluster: "Cluster", pool: "Pool" };
const about = {
  cluster: document.getElementById("about").textContent,
  pool: "Jobs arrive at random (Poisson), run on one server each and are served first come, first served. Service times and patience are exponential. The page computes everything itself: no data leaves it.",
};

// drawCluster describes the tab of a cluster.
function drawCluster(saved, main) {
  const seen = answersNow(saved);
  main.setAttribute("aria-busy", String(!seen.current));
  fitChart(saved.model);
  const load = drawLoad(saved, seen);
  const panels = [
    h("section", { key: "graph", class: "panel", id: "cluster", "aria-label": "Cluster" },
      h("div", { class: "bar" }, h("h2", null, "Cluster"),
        h("button", { type: "button", on: { click: () => edit(addClass(saved.model, state.selected?.rows === "servers" ? state.selected.name : null)) } }, "Add class"),
        h("button", { type: "button", on: { click: () => edit(addServer(saved.model)) } }, "Add server")),
      drawServices(saved),
      h("div", { class: "nodes" }, drawGraph(saved, seen)),
      drawInspector(saved)),
    h("section", { key: "curves", class: "panel", id: "curves", "aria-label": "Curves against the load" },
      drawChartBar(saved), drawChart(saved, seen), drawSimulation(saved)),
    h("section", { key: "tables", class: "panel", id: "tables", "aria-label": "Numbers" }, drawTables(saved, seen)),
    h("div", { key: "side", class: "side" }, drawChanges(saved, seen), drawEditor(saved)),
  ];
  const stale = invalid.size > 0 || Boolean(state.draft?.error);
  return [drawVerdict(saved, seen, load, stale), panels];
}

// drawTabs describes the tabs of a list, of which arrow keys choose another.
function drawTabs(list, title, chosen, choose) {
  return list.map((tab, i) => h("button", {
    key: tab, type: "button", role: "tab", id: `tab-${tab}`, "aria-selected": String(tab === chosen), tabindex: tab === chosen ? 0 : -1,
    on: { click: () => choose(tab), keydown: (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: list.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = list[(to + list.length) % list.length];
      choose(next);
      document.getElementById(`tab-${next}`).focus();
    } },
  }, title(tab)));
}

// drawServices describes the switch between the services.
function drawServices(saved) {
  return h("fieldset", { class: "switch" }, h("legend", null, "A job runs on"),
    Object.entries(services).map(([service, words]) => h("label", { key: service },
      h("input", { type: "radio", name: "service", id: `service-${service}`, checked: serviceOf(saved.model) === service, on: { change: () => edit(serve(saved.model, service)) } }),
      h("span", null, words))));
}

function drawTools(saved) {
  const button = (text, click, more) => h("button", { key: text, type: "button", on: { click }, ...more }, text);
  const isPool = saved.tab === "pool";
  return [
    !isPool && h("label", { key: "open", class: "button" }, "Open", h("input", { type: "file", accept: ".yaml,.yml,.json", class: "hidden", "aria-label": "Open a model file", on: { change: (event) => { const [file] = event.target.files; if (file) openFile(file); event.target.value = ""; } } })),
    button("Undo", undo, { disabled: state.past.length === 0, "aria-keyshortcuts": "Control+Z" }),
    button("Redo", redo, { disabled: state.future.length === 0, "aria-keyshortcuts": "Control+Shift+Z" }),
    isPool ? null : saved.pinned
      ? button("Unpin", () => save({ pinned: null }), { title: `Pinned: ${saved.pinned.name}, load ${saved.pinned.load}` })
      : button("Pin", () => save({ pinned: { name: saved.name, model: saved.model, load: saved.load } }), { title: "Keep this variant and show what differs from it" }),
    button("Copy link", async () => copy("Link to this state", new URL(await linkOf(state.saved), location.href).href)),
    isPool ? button("pfq lines", copyPoolLines) : button("pfq line", () => copyLine(hasPercentiles(saved) ? timesOf(saved.model) : {})),
    !isPool && button("Save model", saveModel),
    !document.querySelector("link[rel=stylesheet]") && button("Save page", savePage, { title: "One file with this state, which opens without a server or a network" }),
  ];
}

// drawVerdict describes whether the model is stable, and what is overloaded first.
function drawVerdict(saved, seen, load, stale) {
  const { verdict } = seen;
  let words = "…";
  let detail = "";
  if (verdict?.error) [words, detail] = ["No answer:", `${verdict.error}.`];
  else if (verdict && limitOf(verdict) === null) words = "Stable: no jobs arrive";
  else if (verdict) {
    const critical = shown(verdict.critical_load);
    words = verdict.critical_load === null ? "Stable at any load: jobs give up"
      : verdict.stable ? `Stable up to load ${critical}` : verdict.undecided ? `Undecided: about the limit, load ${critical}` : `Unstable: stable only below load ${critical}`;
    const names = list(verdict.bottleneck_classes.map((i) => saved.model.classes[i]?.name));
    const servers = list(verdict.bottleneck_servers.map((k) => saved.model.servers[k]?.name));
    const reason = verdict.critical_load === null ? `Too much work from load ${shown(verdict.crowded_load)} on` : verdict.stable ? "Overloaded first" : "Overloaded";
    detail = verdict.gangs ? gangReason(verdict.gangs) : `${reason}: ${names} on ${servers}, with work ${shown(verdict.bottleneck_work)} on capacity ${shown(verdict.bottleneck_capacity)} (ringed).`;
    if (seen.solution?.error) detail += ` No exact ${serviceOf(saved.model) === "all" ? "delays" : "waits"}: ${seen.solution.error}. Simulate may still estimate them.`;
  }
  return h("section", { key: "verdict", id: "verdict", class: verdict && !verdict.error ? (verdict.stable ? "stable" : "unstable") : "", "aria-label": "Verdict" },
    h("p", { role: "status", "aria-live": "polite" }, h("strong", null, words), " ", detail),
    load,
    stale && h("p", { key: "stale", class: "error stale-note" }, `All numbers are those of the last valid model: correct ${invalid.size > 0 ? "the marked field" : "the model file"}.`));
}

// gangReason describes what limits the load of jobs that hold several servers at once.
function gangReason({ throughput_limit, work_conserving_limit, fifo_waste, costliest }) {
  const limit = `First come, first served, at most ${shown(throughput_limit)} jobs/s can start`;
  if (fifo_waste === 0) return `${limit}; no job blocks servers that others could use.`;
  return `${limit}, and ${shown(work_conserving_limit)} if no server were idle (ringed): ${percent(fifo_waste)} is wasted because a job that does not fit blocks those behind it${costliest ? `; jobs of ${costliest} cost most` : ""}.`;
}

function list(names) {
  if (names.length > 6) return `${names.slice(0, 5).join(", ")} and ${names.length - 5} more`;
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");
}

function drawChartBar(saved) {
  const now = viewOf(saved);
  return h("div", { class: "bar" },
    h("div", { role: "tablist", "aria-label": "Measure", class: "tabs" }, drawTabs(viewsOf(saved.model), (view) => measures[view].name, now, (view) => save({ view }))),
    now === "percentile" && h("select", { key: "percentile", id: "percentile", "aria-label": "Percentile", value: saved.percentile, on: { change: (event) => save({ percentile: event.target.value }) } },
      percentiles.map((p) => h("option", { value: p }, `p${p}`))),
    h("label", { key: "log", class: "check" }, h("input", { type: "checkbox", id: "log", checked: saved.log, on: { change: (event) => save({ log: event.target.checked }) } }), h("span", null, "log scale")));
}

function drawSimulation(saved) {
  const wanted = simulations();
  const done = wanted.filter((question) => answerTo(question)).length;
  const running = wanted.length > done;
  const found = wanted.map(answerTo).filter(Boolean);
  const refused = found.find((answer) => answer.error)?.error;
  const warned = found.filter((answer) => answer.warnings?.length > 0).length;
  const critical = criticalOf(saved);
  const apart = serviceOf(saved.model) !== "all" || hasOneSize(saved.model) ? "" : " Classes differ in mean size: the curves are for balanced fairness, the bars for first come, first served.";
  const part = wanted.length > 0 ? (done + simulator.part) / wanted.length : 0;
  const text = wanted.length === 0 ? "Simulates the cluster job by job, first come, first served, and draws the estimates with the curves."
    : refused ? `No simulation: ${refused}.` : running ? "" : `${runs.runs} runs of ${runs.jumps.toLocaleString("en")} events per load; bars contain the true value 95 times in 100.${warned ? ` At ${warned} of ${found.length} loads the runs may be too short.` : ""}${apart}`;
  return h("div", { class: "bar simulation" },
    running ? h("button", { key: "stop", type: "button", on: { click: () => show({ simulate: null }) } }, "Stop")
      : h("button", { key: "simulate", type: "button", disabled: critical === null, on: { click: () => show({ simulate: { model: saved.model, load: saved.load } }) } }, "Simulate"),
    running && h("progress", { key: "progress", max: 1, value: part, "aria-label": "Simulation" }),
    running && h("span", { key: "left", id: "left" }, `${percent(part, 0)}${simulationLeft(part)}`),
    wanted.length > 0 && h("button", { key: "line", type: "button", on: { click: () => copyLine(runs, state.simulate.load) } }, "pfq line of the simulation"),
    h("span", { key: "words", class: "quiet", role: "status" }, text));
}

let clock = { simulate: null, at: 0, part: 0 }; // when the simulation began, and the part that was done before

// simulationLeft returns the remaining time of the simulation, after a comma, or nothing until it is known.
function simulationLeft(part) {
  const now = performance.now();
  if (clock.simulate !== state.simulate) clock = { simulate: state.simulate, at: now, part };
  if (part - clock.part < 0.01) return "";
  return `, ${timeLeft(((now - clock.at) / 1000 / (part - clock.part)) * (1 - part))}`;
}

// A dialog also shows the text to copy, for browsers that do not allow copying.

async function copy(title, text) {
  let message = "Copied.";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    message = "Select the text and copy it.";
  }
  show({ dialog: { title, text }, message });
}

async function copyLine(more, load = state.saved.load) {
  const { model } = state.saved;
  const question = { ask: "line", model, load, ...more };
  const answer = await answered(question);
  copy(more.runs ? "The same simulation by pfq" : "The same numbers by pfq", answer.line ?? answer.error);
}

function drawDialog() {
  const { dialog } = state;
  if (!dialog) return null;
  const close = () => show({ dialog: null, message: "" });
  return h("dialog", { key: "dialog", id: "dialog", "aria-label": dialog.title, on: { close, cancel: close } },
    h("h2", null, dialog.title),
    h("textarea", { id: "copied", readOnly: true, rows: Math.min(14, dialog.text.split("\n").length + 1), value: dialog.text, "aria-label": dialog.title }),
    h("div", { class: "bar" }, h("button", { type: "button", id: "close", on: { click: close } }, "Close"), h("span", { class: "quiet" }, state.message)));
}

function saveModel() {
  const yaml = answerTo({ ask: "read", text: JSON.stringify(state.saved.model) })?.yaml;
  if (!yaml) return;
  download("yaml", yaml);
}

// savePage saves the original page, with this state in place of its first model.
function savePage() {
  const page = document.documentElement.cloneNode(true);
  for (const id of ["tabs", "tools", "main"]) page.querySelector(`#${id}`).textContent = "";
  page.querySelector("#about").textContent = about.cluster; // that of the original page
  page.querySelector("#start").textContent = JSON.stringify({ saved: state.saved }).replaceAll("<", "\\u003c");
  download("html", `<!doctype html>\n${page.outerHTML}`);
}

function download(kind, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = `${(state.saved.name || "model").replace(/\.(ya?ml|json)$/, "")}.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

let drawing = false;
let drawnAt = 0; // time of the last drawing, in ms

// redraw sends the questions of the state and draws the page before the next frame.
function redraw() {
  pump();
  drawSoon();
}

function drawSoon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    takeDraft();
    draw();
    drawnAt = performance.now();
    const dialog = document.getElementById("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  });
}

function acceptKeys() {
  document.addEventListener("keydown", (event) => {
    const inText = event.target.matches("textarea, input[type=text]");
    if (inText || !(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    if (key === "z") (event.shiftKey ? redo : undo)();
    else if (key === "y") redo();
    else return;
    event.preventDefault();
  });
}

// open loads the state of a link, once the solver has read its models. If there is no link or it is broken, it loads the original
// model.
async function open(link) {
  const start = JSON.parse(document.getElementById("start").textContent);
  let found = start.saved ?? { name: start.name, model: null };
  let message = "";
  if (link.length > 1) {
    try {
      found = await readLink(link);
    } catch {
      message = "The link is broken; this is the original model of the page.";
    }
  }
  const readers = [found.model ?? null, found.pinned?.model ?? null].map(async (model) => {
    if (!model) return null;
    const answer = await answered({ ask: "read", text: JSON.stringify(model) });
    if (answer.error) message = `The link contains an invalid model: ${answer.error}`;
    return answer.model ?? null;
  });
  const [model, pinned] = await Promise.all(readers);
  if (model) state.saved = acceptable(found, { model, pinned });
  else {
    const text = start.text ?? JSON.stringify(start.saved.model);
    const answer = await answered({ ask: "read", text });
    state.saved = acceptable({ name: start.name ?? start.saved.name }, { model: answer.model, pinned: null });
  }
  Object.assign(state, { past: [], future: [], selected: null, draft: null, typing: {}, message });
  changed();
}

new ResizeObserver(redraw).observe(document.getElementById("main"));
window.addEventListener("hashchange", () => open(location.hash));
acceptKeys();
acceptDrops();
const packed = document.getElementById("solver");
decodeSolver(packed.textContent, Number(packed.dataset.size)).then((module) => {
  compiled = module;
  start(solver);
  start(simulator);
  open(location.hash);
}, (error) => {
  document.getElementById("message").textContent = `This browser cannot run the solver: ${error.message}`;
});
