// The two workers, and the pump that sends them the questions of the state and keeps the answers. questions.js lists these
// questions. A question that the state no longer has is never sent.

const answers = new Map(); // JSON of a question to its answer
const mostAnswers = 3000;
const answerTo = (question) => question && answers.get(JSON.stringify(question));

const solver = { worker: null, ready: false, asked: null, since: 0, id: 0 };
const simulator = { worker: null, ready: false, asked: null, since: 0, id: 0, part: 0 };
const patience = 1000; // ms that the solver may take for a question that the state no longer has
let compiled = null;
let drawTimer = null;

// decodeSolver returns the compiled solver. Its bytes are in the page as letters of seven bits, the lowest first. A letter of
// U+0080 or above has the seven bits of a letter that text cannot contain, and nine more (site.go writes them).
async function decodeSolver(text, size) {
  const bytes = new Uint8Array(size);
  const unfit = [0, 13, 60];
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    const more = letter - 128;
    held |= (more < 0 ? letter : unfit[more >> 9] | ((more & 511) << 7)) << bits;
    bits += more < 0 ? 7 : 16;
    for (; bits >= 8; bits -= 8) {
      bytes[at++] = held;
      held >>>= 8;
    }
  }
  const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unzipped).arrayBuffer());
}

function start(machine) {
  const worker = new Worker(URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" })));
  Object.assign(machine, { worker, ready: false, asked: null, part: 0 });
  worker.postMessage(compiled);
  worker.onmessage = ({ data }) => {
    const question = machine.asked;
    if (data.ready) machine.ready = true;
    else if (data.part !== undefined) machine.part = data.part;
    else {
      keep(question, data.answer);
      machine.asked = null;
    }
    pump();
    const isFollowed = ["curve", "pools"].includes(question?.ask) && machine.asked?.ask === question.ask;
    clearTimeout(drawTimer);
    const wait = isFollowed ? drawnAt + 50 - performance.now() : 0; // points that follow each other fast are drawn together
    if (wait <= 0) drawSoon();
    else drawTimer = setTimeout(drawSoon, wait);
  };
  worker.onerror = () => { // it ran out of memory: another worker continues with the next question
    worker.terminate();
    if (machine.asked) keep(machine.asked, { error: "this takes more memory than a page has" });
    start(machine);
    redraw();
  };
}

function keep(question, answer) {
  if (answers.size >= mostAnswers) answers.delete(answers.keys().next().value);
  const key = JSON.stringify(question);
  answers.set(key, answer);
  for (const one of awaited.filter((one) => one.key === key)) {
    awaited.splice(awaited.indexOf(one), 1);
    one.resolve(answer);
  }
}

const awaited = []; // questions with a waiting caller: { key, question, resolve }

// answered returns the answer to a question, which the solver gets before all others.
function answered(question) {
  const known = answerTo(question);
  if (known) return Promise.resolve(known);
  return new Promise((resolve) => {
    awaited.push({ key: JSON.stringify(question), question, resolve });
    pump();
  });
}

function ask(machine, question) {
  machine.asked = question;
  machine.since = performance.now();
  machine.part = 0;
  machine.worker.postMessage({ id: ++machine.id, question });
}

let pumpTimer = null;

// endUnwanted ends a solver that takes long for a question that the state no longer has, such as the percentiles of a model with
// very different capacities. This keeps edits fast.
function endUnwanted(wanted) {
  if (!solver.asked) return;
  const key = JSON.stringify(solver.asked);
  if (awaited.some((one) => one.key === key) || wanted.some((question) => JSON.stringify(question) === key)) return;
  const left = patience - (performance.now() - solver.since);
  if (left > 0) {
    pumpTimer = setTimeout(pump, left + 1);
    return;
  }
  solver.worker.terminate();
  start(solver);
}

// pump sends each idle worker the first question without an answer. It ends a simulation that the state no longer has.
function pump() {
  clearTimeout(pumpTimer);
  if (solver.ready && !solver.asked && awaited.length > 0) ask(solver, awaited[0].question);
  if (!compiled || !state.saved.model) return;
  const calm = performance.now() - state.changedAt;
  const { wanted, later } = questions(calm);
  endUnwanted(wanted);
  if (solver.ready && !solver.asked) {
    const next = wanted.find((question) => !answerTo(question));
    if (next) ask(solver, next);
    else if (later) pumpTimer = setTimeout(pump, calmTime - calm + 1);
  }
  const runs = simulations();
  const same = (question) => JSON.stringify(question) === JSON.stringify(simulator.asked);
  if (simulator.asked && !runs.some(same)) {
    simulator.worker.terminate();
    start(simulator);
  }
  if (simulator.ready && !simulator.asked) {
    const next = runs.find((question) => !answerTo(question));
    if (next) ask(simulator, next);
  }
}
