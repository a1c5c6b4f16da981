"use strict";
// The server sends the body anew every second. A browser that loses it connects again by itself; one that is refused, here.
const body = document.getElementById("body");
const old = document.getElementById("old");
const patience = 5000; // milliseconds without news after which what is shown is called old
let silence = 0; // the timer of that

function wait() {
  clearTimeout(silence);
  silence = setTimeout(() => { old.hidden = false; }, patience);
}

// show replaces the body; what is scrolled and what has the focus stays so.
function show(html) {
  const scrolled = Array.from(body.querySelectorAll(".scroll"), (e) => e.scrollLeft);
  const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  body.innerHTML = html;
  body.querySelectorAll(".scroll").forEach((e, i) => { e.scrollLeft = scrolled[i] || 0; });
  for (const link of body.querySelectorAll("a")) {
    if (focused !== null && link.getAttribute("href") === focused) link.focus({ preventScroll: true });
  }
}

function listen() {
  const events = new EventSource("/events" + location.search);
  events.onmessage = (event) => {
    wait();
    old.hidden = true;
    if (getSelection().type !== "Range") show(event.data); // not under the hand of who marks text
  };
  events.onerror = () => {
    old.hidden = false;
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, patience);
  };
}

wait();
listen();
