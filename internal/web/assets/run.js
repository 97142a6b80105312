// Gives the frame of a report the report's own height: one page, one scroll bar.
"use strict";
const frame = document.querySelector("iframe.report");
const fit = () => {
  const inside = frame.contentDocument && frame.contentDocument.documentElement;
  if (inside) frame.style.height = inside.scrollHeight + 4 + "px";
};
frame.addEventListener("load", () => {
  fit();
  new ResizeObserver(fit).observe(frame.contentDocument.body);
});
fit();
