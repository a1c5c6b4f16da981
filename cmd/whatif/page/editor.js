// The text of the model, and files dropped on the page. An invalid text changes nothing; the error is shown with its line.

// takeDraft applies the answer about the draft: a valid model becomes that of the page.
function takeDraft() {
  const { draft } = state;
  if (!draft) return;
  const answer = answerTo({ ask: "read", text: draft.text });
  if (!answer || draft.answer === answer) return;
  if (answer.error) {
    state.draft = { ...draft, answer, error: answer.error, line: answer.line ?? 0 };
    return;
  }
  const same = JSON.stringify(answer.model) === JSON.stringify(state.saved.model);
  state.draft = { ...draft, answer, error: "", line: 0, model: same ? state.saved.model : answer.model };
  if (!same) {
    const name = draft.name ?? state.saved.name;
    save({ model: answer.model, name, ...(draft.name && { load: "1" }) }, draft.name ? null : "text");
  }
  if (draft.name) state.draft = null;
}

function drawEditor(saved) {
  const { draft } = state;
  const read = answerTo({ ask: "read", text: JSON.stringify(saved.model) });
  const text = draft ? draft.text : read?.yaml ?? "";
  const lines = text.split("\n").length;
  const bad = draft?.error;
  const numbers = Array.from({ length: lines }, (_, i) => h("span", { key: i, class: bad && draft.line === i + 1 ? "bad" : null }, String(i + 1)));
  return h("section", { class: "panel", id: "editor", "aria-label": "Model file" },
    h("h2", null, "Model file"),
    h("div", { class: "text" },
      h("div", { class: "lines", "aria-hidden": "true" }, numbers),
      h("textarea", {
        id: "text", "aria-label": "Model as YAML or JSON", "aria-invalid": bad ? "true" : null, "aria-describedby": bad ? "text-error" : null,
        spellcheck: "false", autocomplete: "off", wrap: "off", rows: Math.max(6, lines), value: text,
        on: {
          input: (event) => show({ draft: { text: event.target.value, model: state.saved.model, error: bad ?? "", line: draft?.line ?? 0 } }),
          blur: () => { endGesture(); if (state.draft && !state.draft.error) show({ draft: null }); },
        },
      })),
    h("p", { id: "text-error", class: bad ? "error" : "quiet", role: "status" }, bad ? `${draft.line ? `Line ${draft.line}: ` : ""}${bad}. The page still shows the previous model.` : "YAML or JSON; files can be dropped anywhere on the page."),
    bad && h("button", { type: "button", on: { click: () => show({ draft: null }) } }, "Back to the model in use"));
}

// openText shows the text of a file, in the tab of a cluster. If it is a valid model, it becomes that of the page.
function openText(name, text) {
  if (state.saved.tab !== "cluster") save({ tab: "cluster" });
  show({ draft: { name, text, model: state.saved.model, error: "", line: 0 }, message: `Reading ${name} …` });
  state.message = "";
}

async function openFile(file) {
  if (file.size > 4e6) return show({ message: `${file.name} is too large for this page: ${(file.size / 1e6).toFixed(1)} MB.` });
  openText(file.name, await file.text());
}

function acceptDrops() {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) openFile(file);
  });
}
