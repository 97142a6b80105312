// What the page does: it starts linerate's program, asks it for answers, and shows them
// as text. No answer is ever read as markup, but the picture, which linerate escapes.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  // part makes an element of its class, with texts and other elements in it.
  const part = (name, kind, ...inside) => {
    const e = document.createElement(name);
    if (kind) e.className = kind;
    e.append(...inside.filter((x) => x !== "" && x != null));
    return e;
  };
  // prose is a text whose parts between backquotes are code.
  const prose = (text) => text.split("`").map((x, i) => (i % 2 ? part("code", "", x) : x));
  const counted = (n, noun) => n + " " + noun + (n === 1 ? "" : "s");

  // ask calls a function of linerate; a program that ended says so.
  let ended = false;
  const ask = (name, text) => {
    try {
      if (!ended) return JSON.parse(globalThis.linerate[name](text || ""));
    } catch {
      ended = true; // there was no answer
    }
    return { error: "linerate has stopped: load this page again" };
  };
  const alert = (said) => part("p", "alert", said.error + (said.hint ? ": " + said.hint : ""));

  // Tabs: by click, and by the arrow keys.
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const one of tabs) {
      const on = one === tab;
      one.setAttribute("aria-selected", on);
      one.tabIndex = on ? 0 : -1;
      $(one.getAttribute("aria-controls")).hidden = !on;
    }
  };
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (e) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    });
  }
  const named = tabs.find((t) => "#" + t.getAttribute("aria-controls") === location.hash);
  if (named) choose(named);

  // mark selects lines of the text and brings them into view.
  const mark = (from, to) => {
    const box = $("text");
    let start = 0;
    let line = 1;
    for (; line < from && start >= 0; line++) start = box.value.indexOf("\n", start) + 1 || -1;
    if (start < 0) return;
    let end = start;
    for (; line <= to; line++) {
      const next = box.value.indexOf("\n", end);
      end = next < 0 ? box.value.length : line < to ? next + 1 : next;
      if (next < 0) break;
    }
    box.focus();
    box.setSelectionRange(start, end);
    const height = parseFloat(getComputedStyle(box).lineHeight);
    box.scrollTop = Math.max(0, (from - 3) * height);
    box.scrollLeft = 0;
  };
  const lines = (from, to) => (to > from ? "lines " + from + " to " + to : "line " + from);
  const at = (from, to, words) => {
    const b = part("button", "at", words || lines(from, to));
    b.type = "button";
    b.addEventListener("click", () => mark(from, to));
    return b;
  };
  // source is where evidence was read: its lines are buttons.
  const source = (text) => {
    const out = [];
    let last = 0;
    for (const m of text.matchAll(/line (\d+)(?:-(\d+))?/g)) {
      out.push(text.slice(last, m.index), at(+m[1], +(m[2] || m[1]), m[0]));
      last = m.index + m[0].length;
    }
    out.push(text.slice(last));
    return out;
  };

  // copier is a button that copies a text; where the browser refuses, it selects it.
  const copier = (words, text) => {
    const b = part("button", "plain", words);
    b.type = "button";
    b.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const box = part("textarea", "");
        box.value = text;
        document.body.append(box);
        box.select();
        document.execCommand("copy");
        box.remove();
        b.focus();
      }
      b.textContent = "Copied";
      setTimeout(() => (b.textContent = words), 1500);
    });
    return b;
  };

  const finding = (f) => {
    const out = [];
    if (f.evidence && f.evidence.length) {
      const list = part("ul", "evidence");
      for (const e of f.evidence) list.append(part("li", "", e.what + ": " + e.value + " ", part("span", e.source.length < 24 ? "n" : "", "(", ...source(e.source), ")")));
      out.push(part("h2", "", "Evidence"), list);
    }
    if (f.remedy) out.push(part("h2", "", "What to do"), part("p", "remedy", ...prose(f.remedy)));
    if (f.gain) out.push(part("h2", "", "What it should gain"), part("p", "gain", f.gain));
    return out;
  };

  const spans = (title, all) => {
    const list = part("ul", "");
    for (const s of all) list.append(part("li", "", at(s.from, s.to), ": " + s.what));
    return part("details", "", part("summary", "", title), list);
  };

  const showAnswer = (a) => {
    const place = $("answer");
    if (a.error) {
      place.replaceChildren(alert(a));
      return;
    }
    const first = a.findings[0];
    if (first.cause === "unknown" && a.ask.length) first.remedy = ""; // it names the same commands
    const all = [part("p", "first", ...prose(first.summary), part("span", "sure", first.headline.slice(first.summary.length))), ...finding(first)];
    if (a.ask.length) {
      const list = part("ul", "");
      for (const m of a.ask) list.append(part("li", "ask", part("code", "", m.command), " on " + m.on + ": " + m.why));
      all.push(part("h2", "", "What to send next"), list, part("div", "row", copier("Copy the commands", a.ask.map((m) => m.command + "\n").join(""))));
    }
    if (a.picture) {
      const figure = part("figure", "");
      figure.innerHTML = a.picture;
      const loads = /[>, ][tr]x /.test(a.picture) ? part("p", "note", "tx, rx: the rate that a link carried, or its part of all.") : "";
      all.push(part("h2", "", "Links, as read"), ...figure.childNodes, loads);
    }
    all.push(part("div", "row", copier("Copy as Markdown", a.markdown)));
    for (const f of a.findings.slice(1)) all.push(part("details", "also", part("summary", "", "Also: " + f.headline), ...finding(f)));
    all.push(part("p", "note read", a.summary));
    if (a.read.length) all.push(spans("What was read", a.read));
    if (a.not_read.length) all.push(spans("What was not read", a.not_read));
    place.replaceChildren(...all);
  };

  const explain = () => {
    const text = $("text").value;
    const begun = performance.now();
    const a = ask("explain", text);
    showAnswer(a);
    $("answer").dataset.milliseconds = Math.round(performance.now() - begun);
  };

  // A table of rows, each a list of cells.
  const table = (caption, heads, rows) => {
    const head = part("tr", "");
    for (const h of heads) {
      const th = part("th", "", h);
      th.scope = "col";
      head.append(th);
    }
    const body = part("tbody", "");
    for (const r of rows) body.append(part("tr", "", ...r.map((c) => part("td", "n", c))));
    const out = part("div", "scroll", part("table", heads.length > 3 ? "long" : "", part("caption", "", caption), part("thead", "", head), body));
    out.tabIndex = 0;
    out.setAttribute("role", "region");
    out.setAttribute("aria-label", caption);
    return out;
  };

  const link = (n) => (n == null ? "unknown" : String(n));
  const each = (counts) => counts.map((n, i) => "link " + i + ": " + counted(n, "flow")).join(", ");
  const steer = () => {
    const a = ask("steer", JSON.stringify({
      src: $("src").value, dst: $("dst").value, src_mac: $("smac").value, dst_mac: $("dmac").value, links: +$("links").value, policy: $("policy").value,
      era: $("kernel").value === "other" ? 0 : +$("kernel").value, kernel: $("kernel").value === "other" ? $("release").value || "none" : "", flows: +$("flows").value, dport: +$("dport").value,
    }));
    if (a.error) {
      $("steered").replaceChildren(alert(a));
      return;
    }
    const shown = part("div", "card", part("h2", "", "Consecutive ports"), part("p", "", a.bond + ". " + each(a.per_link) + "."));
    for (const n of a.notes) shown.append(part("p", "note", n));
    shown.append(table("Flows from port " + a.flows[0].sport, ["Source port", "Hash", "Link"], a.flows.map((f) => [String(f.sport), f.hash || "unknown", link(f.link)])));
    const all = [shown];
    if (a.chosen) {
      const c = a.chosen;
      const best = part("div", "card chosen", part("h2", "", c.even ? "Ports that use all links evenly" : "The most even ports there are"), part("p", "", each(c.per_link) + "."));
      if (c.why) best.append(part("p", "note", c.why));
      if (c.remedy) best.append(part("p", "note", c.remedy));
      best.append(part("p", "ports", c.ports), part("div", "row", copier("Copy the ports", c.ports)));
      best.append(table("Chosen flows, in the order to start them", ["Source port", "Link"], c.streams.map((f) => [String(f.sport), link(f.link)])));
      all.unshift(best);
    }
    $("steered").replaceChildren(part("div", "sides", ...all));
  };

  const predict = () => {
    const a = ask("predict", $("fabric").value);
    if (a.error) {
      $("predicted").replaceChildren(alert(a));
      return;
    }
    const all = a.notes.map((n) => part("p", "note", n));
    for (const p of a.pairs) {
      const rows = p.rows.map((r) => [r.direction, r.streams, r.expected + (r.range ? " (" + r.range + ")" : ""), r.ceiling, r.limit]);
      const reasons = part("ul", "reasons");
      const told = new Set();
      for (const r of p.rows) {
        const why = (r.where ? r.where + ": " : "") + r.why;
        if (told.has(why)) continue;
        told.add(why);
        reasons.append(part("li", "", part("b", "", r.limit), ", " + r.direction + ", " + (r.streams === "1" ? "1 stream" : r.streams + " streams") + ": " + why));
      }
      all.push(part("div", "card", table(p.from + " to " + p.to, ["Direction", "Streams", "Expected", "Ceiling", "The limit that binds"], rows), part("h2", "", "Why"), reasons));
    }
    $("predicted").replaceChildren(...all);
  };

  // A file's text, whatever it is encoded in.
  const mostText = 10 << 20;
  const textOf = async (file) => {
    if (file.size > mostText) throw new Error(file.name + " has more than 10 MB: use `linerate explain`");
    const bytes = new Uint8Array(await file.arrayBuffer());
    const even = bytes.slice(0, 200).filter((b, i) => b === 0 && i % 2 === 1).length;
    const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || even > 40 ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
    return new TextDecoder(wide).decode(bytes);
  };
  const chooser = (input, box, place, then) => input.addEventListener("change", async () => {
    if (!input.files.length) return;
    try {
      box.value = await textOf(input.files[0]);
    } catch (e) {
      place.replaceChildren(alert({ error: e.message }));
      return;
    }
    then();
  });
  // A file that is dropped is read, not opened in the page's place.
  const dropped = (input, box) => box.addEventListener("drop", (e) => {
    if (!e.dataTransfer.files.length) return;
    e.preventDefault();
    input.files = e.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });

  const forms = [["explain-form", explain], ["steer-form", steer], ["predict-form", predict]];
  for (const [id, act] of forms) {
    $(id).addEventListener("submit", (e) => {
      e.preventDefault();
      act();
    });
  }
  chooser($("file"), $("text"), $("answer"), explain);
  chooser($("fabric-file"), $("fabric"), $("predicted"), predict);
  dropped($("file"), $("text"));
  dropped($("fabric-file"), $("fabric"));
  $("text").addEventListener("paste", () => setTimeout(explain, 0));
  $("kernel").addEventListener("change", () => ($("release-field").hidden = $("kernel").value !== "other"));

  const start = async () => {
    const packed = atob($("program").textContent);
    $("program").remove();
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i);
    const program = new Response(bytes).body.pipeThrough(new DecompressionStream("gzip"));
    const go = new Go();
    const { instance } = await WebAssembly.instantiate(await new Response(program).arrayBuffer(), go.importObject);
    go.run(instance).then(() => (ended = true));
    const choices = ask("choices");
    for (const p of choices.policies) $("policy").append(new Option(p, p, p === "layer3+4", p === "layer3+4"));
    choices.eras.forEach((e, i) => $("kernel").insertBefore(new Option(e, i), $("kernel").lastElementChild));
    $("kernel").value = "0";
    $("state").hidden = true;
  };
  start().catch((e) => {
    $("state").className = "alert";
    $("state").textContent = "linerate did not start in this browser: " + e.message;
  });
})();
