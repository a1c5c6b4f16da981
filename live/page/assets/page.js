"use strict";
// The server sends a new body every second. A browser that loses the connection reconnects by itself; if it is refused, this script does.
const body = document.getElementById("body");
const old = document.getElementById("old");
const patience = 5000; // milliseconds without news after which the page is marked as old
let silence = 0; // timer for the mark

function wait() {
  clearTimeout(silence);
  silence = setTimeout(() => { old.hidden = false; }, patience);
}

// show replaces the body, and keeps the scroll positions and the focus.
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
    if (getSelection().type !== "Range") show(event.data); // not while the user selects text
  };
  events.onerror = () => {
    old.hidden = false;
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, patience);
  };
}

wait();
listen();
