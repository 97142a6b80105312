// Shows trials as they finish.
"use strict";
const rows = document.querySelector("#trials tbody");
const state = document.querySelector("#state");
const most = 200;
const source = new EventSource("/live/events");
source.onopen = () => { state.textContent = "Connected: trials show up here as they finish."; };
source.onerror = () => { state.textContent = "The connection is gone; it is tried again."; };
const running = document.querySelector("#running");
source.addEventListener("running", (e) => {
  const all = JSON.parse(e.data);
  running.hidden = all.length === 0;
  running.querySelector("ul").replaceChildren(...all.map((m) => {
    const line = document.createElement("li");
    line.textContent = m.from + " to " + m.to + ", since " + m.since + " by " + m.who + ": " + m.line;
    return line;
  }));
});
source.addEventListener("trial", (e) => {
  const t = JSON.parse(e.data);
  const row = rows.insertRow(0);
  const share = t.share_ratio < 0 ? "unknown" : (100 * t.share_ratio).toFixed(1) + " %";
  for (const [words, name] of [[t.at, "n"], ["", "way"], [t.direction, "wide"], [String(t.streams), "r wide"], [t.rate, "r"], [share, "wide"], [t.cause, ""]]) {
    const cell = row.insertCell();
    if (name === "way") {
      cell.append(...[t.from, " to ", t.to].map((part, i) => {
        if (i === 1 || part.length > 24) return part;
        const whole = document.createElement("span");
        whole.className = "n";
        whole.textContent = part;
        return whole;
      }));
      continue;
    }
    cell.textContent = words;
    if (name) cell.className = name;
  }
  row.title = t.summary;
  while (rows.rows.length > most) rows.deleteRow(-1);
});
