// The one state of the page. Undo restores its saved part, and the link contains it; nothing in it is ever changed in place. All
// drawing is a function of the state and of the known answers.

const percentiles = ["50", "95", "99"];

// viewsOf returns the measures that the chart can show for a model, and viewOf the one that it shows.
function viewsOf(model) {
  if (serviceOf(model) === "all") return ["delay", "percentile", "rate", "busy"];
  if (serviceOf(model) === "gang") return ["waiting", "delay", "busy"];
  return ["waiting", "percentile", "level", ...(givesUp(model) ? ["abandon"] : []), "busy"];
}

const viewOf = ({ model, view }) => (viewsOf(model).includes(view) ? view : viewsOf(model)[0]);

// A price is the cost of one more server of a row, by name, or of one more connection.
const hasPrice = ({ prices }, name) => Object.hasOwn(prices.servers, name);
const priceOf = (saved, name) => (hasPrice(saved, name) ? saved.prices.servers[name] : "1");

// withoutPrice returns the prices without that of a row of servers.
function withoutPrice({ prices }, name) {
  const { [name]: _, ...servers } = prices.servers;
  return { ...prices, servers };
}

const state = {
  saved: { name: "", model: null, load: "1", view: "delay", percentile: "95", within: "1", prices: { servers: {}, connection: "1" }, log: false, pinned: null, tab: "cluster", pool: null },
  past: [], // earlier saved states, the latest last
  future: [], // undone states, the next one last
  gesture: null, // the current drag or typing: its changes are one step of undo
  changedAt: 0, // time of the last change, in ms

  selected: null, // { rows: "classes" or "servers", name }
  draft: null, // text of the editor while it is not that of the model: { text, model, error, line }
  typing: {}, // by key, fields being edited or with an invalid text: { text, bad, saved }; saved is the valid text
  simulate: null, // the simulated model: { model, load }
  message: "", // the result of the last action, for the status line
  dialog: null, // text to copy: { title, text }
};

// save makes a change that can be undone. Changes of one gesture are one step.
function save(fields, gesture = null) {
  if (gesture === null || state.gesture !== gesture) {
    state.past = [...state.past.slice(-199), state.saved];
    state.future = [];
  }
  state.gesture = gesture;
  state.saved = { ...state.saved, ...fields };
  state.message = "";
  changed();
}

// edit changes the model, or shows why the change is impossible.
function edit(model, gesture = null) {
  if (typeof model === "string") return show({ message: model });
  save({ model }, gesture);
}

// show changes the part of the state that is not saved.
function show(fields) {
  Object.assign(state, fields);
  redraw();
}

function endGesture() {
  state.gesture = null;
}

function undo() {
  step("past", "future", "Undone.");
}

function redo() {
  step("future", "past", "Done again.");
}

function step(from, to, message) {
  if (state[from].length === 0) return;
  state[to] = [...state[to], state.saved];
  state.saved = state[from].at(-1);
  state[from] = state[from].slice(0, -1);
  Object.assign(state, { gesture: null, typing: {}, draft: null, message });
  changed();
}

function changed() {
  const { model } = state.saved;
  const { selected } = state;
  if (selected && !model[selected.rows].some((row) => row.name === selected.name)) state.selected = null;
  if (state.draft && state.draft.model !== model) state.draft = null;
  state.changedAt = performance.now();
  writeLink();
  redraw();
}

// The link of a state: its JSON, deflated, in the letters of base64url.

async function linkOf(saved) {
  const bytes = await throughStream(new TextEncoder().encode(JSON.stringify(saved)), new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `#${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

// readLink returns the saved state that a link holds, and throws if it holds none.
async function readLink(link) {
  const letters = atob(link.replace(/^#/, "").replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await throughStream(bytes, new DecompressionStream("deflate-raw"))));
}

async function throughStream(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

let linkTimer = null;

// writeLink puts the state into the address after a short delay, since browsers allow only a few changes per second.
function writeLink() {
  clearTimeout(linkTimer);
  linkTimer = setTimeout(async () => {
    const { saved } = state;
    const link = await linkOf(saved);
    if (saved !== state.saved) return;
    history.replaceState(null, "", link);
    linkTimer = null;
  }, 150);
}

// acceptable returns a saved state made of an untrusted one, whose model and pinned model the solver has read: { model, pinned }.
function acceptable(found, models) {
  const text = (value, otherwise) => (typeof value === "string" ? value.slice(0, 200) : otherwise);
  const load = (value) => (typeof value === "string" && parseNumber(value) >= 0 ? value : "1");
  const price = (value) => (typeof value === "string" && value.length <= 200 && isPrice(value) ? value : "1");
  const prices = models.model.servers.map(({ name }) => [name, price(found.prices?.servers?.[name])]).filter(([, value]) => value !== "1");
  return {
    name: text(found.name, ""),
    model: models.model,
    load: load(found.load),
    view: text(found.view, "delay"),
    percentile: percentiles.includes(found.percentile) ? found.percentile : "95",
    within: load(found.within),
    prices: { servers: Object.fromEntries(prices), connection: price(found.prices?.connection) },
    log: found.log === true,
    pinned: models.pinned && { name: text(found.pinned.name, ""), model: models.pinned, load: load(found.pinned.load) },
    tab: found.tab === "pool" ? "pool" : "cluster",
    pool: acceptablePool(found.pool),
  };
}
