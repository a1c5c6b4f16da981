// A worker answers questions one at a time. It receives the compiled solver first, then numbered questions.
"use strict";

self.onmessage = ({ data: solver }) => {
  const go = new Go();
  self.ready = (answer) => {
    self.onmessage = ({ data: { id, question } }) => {
      const progress = (part) => self.postMessage({ id, part });
      self.postMessage({ id, answer: JSON.parse(answer(JSON.stringify(question), progress)) });
    };
    self.postMessage({ ready: true });
  };
  WebAssembly.instantiate(solver, go.importObject).then((instance) => go.run(instance));
};
