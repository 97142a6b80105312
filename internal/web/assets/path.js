// Draws the charts of a path over time; the page's tables need no script.
"use strict";
for (const place of document.querySelectorAll(".chart")) {
  const c = JSON.parse(place.dataset.chart);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const word = (v) => {
    for (const [unit, size] of [["Tbit/s", 1e12], ["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3]]) {
      if (v >= size) return Number((v / size).toPrecision(3)) + " " + unit;
    }
    return v + " bit/s";
  };
  const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const two = (n) => String(n).padStart(2, "0");
  const date = (d) => d.getUTCDate() + " " + months[d.getUTCMonth()];
  const clock = (d) => two(d.getUTCHours()) + ":" + two(d.getUTCMinutes());
  const when = (s) => { const d = new Date(s * 1e3); return date(d) + " " + d.getUTCFullYear() + " " + clock(d); };
  // A tick says no more than tells it from the one before, and nothing twice.
  const ticks = (u, all, axis, space, step) => {
    let last = "", day = "";
    return all.map((s) => {
      const d = new Date(s * 1e3);
      let text = date(d);
      if (step < 86400) { text = text === day ? clock(d) : clock(d) + "\n" + text; day = date(d); }
      if (step >= 300 * 86400) text = String(d.getUTCFullYear());
      if (text === last) return null;
      last = text;
      return text;
    });
  };
  const known = (v) => v.map((x) => (x > 0 ? x : null));
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
  const narrow = () => place.clientWidth < 480;
  const marks = (u) => {
    const ends = [];
    for (const m of c.marks || []) {
      const x = u.valToPos(m.at, "x", true);
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
      u.ctx.save();
      u.ctx.strokeStyle = u.ctx.fillStyle = colour(m.word === "worse" ? "--warn" : "--accent");
      u.ctx.lineWidth = 2 * devicePixelRatio;
      u.ctx.beginPath();
      u.ctx.moveTo(x, u.bbox.top);
      u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
      u.ctx.stroke();
      u.ctx.font = 12 * devicePixelRatio + "px system-ui, sans-serif";
      const right = x > u.bbox.left + u.bbox.width / 2;
      u.ctx.textAlign = right ? "right" : "left";
      let word = m.word;
      const room = (right ? x - u.bbox.left : u.bbox.left + u.bbox.width - x) - 10 * devicePixelRatio;
      while (word.length > 4 && u.ctx.measureText(word).width > room) word = word.slice(0, -2).trimEnd() + "\u2026";
      const wide = u.ctx.measureText(word).width, from = right ? x - wide : x;
      let line = ends.findIndex((end) => end < from);
      if (line < 0) line = ends.length;
      ends[line] = from + wide + 12 * devicePixelRatio;
      u.ctx.fillText(word, x + (right ? -6 : 6) * devicePixelRatio, u.bbox.top + u.bbox.height - (6 + 15 * line) * devicePixelRatio);
      u.ctx.restore();
    }
  };
  const options = {
    width: place.clientWidth, height: 240, tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), "Etc/UTC"), padding: [10, 34, 0, 0],
    cursor: { y: false }, legend: { show: false },
    scales: {
      x: { range: (u, low, high) => (low === high ? [low - 3600, high + 3600] : [low, high]) },
      y: { range: (u, low, high) => [0, (high || 1) * 1.05] },
    },
    axes: [{ ...axis, space: () => (narrow() ? 70 : 100), values: ticks }, { ...axis, size: 88, values: (u, all) => all.map(word) }],
    series: [
      { label: "started" },
      { label: "low", stroke: "transparent", points: { show: false } },
      { label: "high", stroke: "transparent", points: { show: false } },
      { label: "ceiling", stroke: colour("--soft"), dash: [6, 4], points: { show: false } },
      { label: "rate", stroke: colour("--accent"), width: 2, points: { show: true, size: 6, fill: colour("--card") } },
    ],
    bands: [{ series: [2, 1], fill: colour("--band") }],
    hooks: { draw: [marks], setCursor: [(u) => { said.textContent = u.cursor.idx == null ? "" : when(c.at[u.cursor.idx]) + ": " + word(c.rate[u.cursor.idx]); }] },
  };
  const said = document.createElement("p");
  said.className = "note at";
  place.after(said);
  const chart = new uPlot(options, [c.at, known(c.low), known(c.high), known(c.ceiling), c.rate], place);
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: 240 })).observe(place);
}
