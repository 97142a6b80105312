// Draws the charts of a path over time; the page's tables need no script.
"use strict";
for (const place of document.querySelectorAll(".chart")) {
  const c = JSON.parse(place.dataset.chart);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const word = (v) => {
    for (const [unit, size] of [["Tbit/s", 1e12], ["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3]]) {
      if (v >= size) return (v / size).toPrecision(3) + " " + unit;
    }
    return v + " bit/s";
  };
  const when = (s) => new Date(s * 1e3).toISOString().slice(0, 16).replace("T", " ");
  const known = (v) => v.map((x) => (x > 0 ? x : null));
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
  const options = {
    width: place.clientWidth, height: 240, tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), "Etc/UTC"),
    cursor: { y: false },
    scales: { y: { range: (u, low, high) => [0, high * 1.05] } },
    axes: [{ ...axis, space: 110, values: (u, all) => all.map(when) }, { ...axis, size: 88, values: (u, all) => all.map(word) }],
    series: [
      { label: "started", value: (u, v) => (v == null ? "" : when(v)) },
      { label: "rate", stroke: colour("--accent"), width: 2, points: { show: true, size: 6 }, value: (u, v) => (v == null ? "point at the chart" : word(v)) },
      { label: "low", stroke: "transparent", points: { show: false }, value: (u, v) => (v == null ? "" : word(v)) },
      { label: "high", stroke: "transparent", points: { show: false }, value: (u, v) => (v == null ? "" : word(v)) },
      { label: "ceiling", stroke: colour("--soft"), dash: [6, 4], points: { show: false }, value: (u, v) => (v == null ? "" : word(v)) },
    ],
    bands: [{ series: [3, 2], fill: colour("--faint") }],
  };
  const chart = new uPlot(options, [c.at, c.rate, known(c.low), known(c.high), known(c.ceiling)], place);
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: 240 })).observe(place);
}
