"use strict";
// The server sends the body anew every second; a browser connects again by itself.
const body = document.getElementById("body");
const events = new EventSource("/events" + location.search);
events.onmessage = (event) => { body.innerHTML = event.data; };
