// Shows trials as they finish.
"use strict";
const rows = document.querySelector("#trials tbody");
const state = document.querySelector("#state");
const most = 200;
const source = new EventSource("/live/events");
source.onopen = () => { state.textContent = "Connected: trials show up here as they finish."; };
source.onerror = () => { state.textContent = "The connection is gone; it is tried again."; };
source.addEventListener("trial", (e) => {
  const t = JSON.parse(e.data);
  const row = rows.insertRow(0);
  const share = t.share_ratio < 0 ? "unknown" : (100 * t.share_ratio).toFixed(1) + " %";
  for (const [words, name] of [[t.at, "n"], [t.from + " to " + t.to, ""], [t.direction, ""], [String(t.streams), "r"], [t.rate, "r"], [share, ""], [t.cause, ""]]) {
    const cell = row.insertCell();
    cell.textContent = words;
    if (name) cell.className = name;
  }
  row.title = t.summary;
  while (rows.rows.length > most) rows.deleteRow(-1);
});
