// Loads the page anew while something is going on, unless a form is being filled in.
"use strict";
setInterval(() => {
  const at = document.activeElement;
  if (!at || at === document.body || at.tagName === "A") location.reload();
}, 3000);
