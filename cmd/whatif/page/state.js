// The one state of the page. Its saved part is what undo goes back to and what the link holds; nothing in it is ever changed in
// place. All drawing is a function of the state and of the answers that are there.

const views = ["delay", "percentile", "rate", "busy"];
const percentiles = ["50", "95", "99"];

const state = {
  saved: { name: "", model: null, load: "1", view: "delay", percentile: "95", log: false, pinned: null },
  past: [], // saved states before, the last one last
  future: [], // those undone, the next one last
  gesture: null, // what is being dragged or typed: its changes are one step of undo
  changedAt: 0, // time of the last change, in ms

  selected: null, // { rows: "classes" or "servers", name }
  draft: null, // text of the editor while it is not that of the model: { text, model, error, line }
  typing: {}, // by key, fields that are typed in or hold a text that is not accepted: { text, bad, saved }, saved being the valid text
  simulate: null, // what is simulated: { model, load }
  message: "", // what was done or refused, for the status line
  dialog: null, // text to copy: { title, text }
};

// save makes a change one can undo. Changes of one gesture are one step.
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

// edit makes a change of the model, or tells why it cannot be made.
function edit(model, gesture = null) {
  if (typeof model === "string") return show({ message: model });
  save({ model }, gesture);
}

// show changes what is not saved.
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

// writeLink puts the state into the address soon, since browsers bear some changes a second only.
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
  return {
    name: text(found.name, ""),
    model: models.model,
    load: load(found.load),
    view: views.includes(found.view) ? found.view : "delay",
    percentile: percentiles.includes(found.percentile) ? found.percentile : "95",
    log: found.log === true,
    pinned: models.pinned && { name: text(found.pinned.name, ""), model: models.pinned, load: load(found.pinned.load) },
  };
}
