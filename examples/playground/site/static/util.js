"use strict";
// Names come from files of others: they become text nodes and attributes, never markup.
window.page = {}; // a name of the window: drivers of some browsers see no others

page.now = () => new Date().toISOString().replace(/\.\d+Z/, "Z");
page.byId = (id) => document.getElementById(id);

// make makes an element. Properties that begin with "on" are listeners; children that are no
// nodes become text.
page.make = (tag, properties = {}, ...children) => {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked") e[key] = value;
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
};

page.shape = (tag, attributes) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
};

// soon returns a function that runs f, an asynchronous one, after calls of it: never twice at
// a time, and after the last call once more.
page.soon = (f) => {
  let running = false, again = null;
  return async function call(...args) {
    if (running) { again = args; return; }
    running = true;
    try { await f(...args); } finally {
      running = false;
      if (again) { const next = again; again = null; call(...next); }
    }
  };
};

page.outcomes = {
  Fits: ["✓", "fits", "fit"], Preempt: ["⇄", "preempts", "preempt"], Gated: ["⊘", "is gated", "are gated"], Wait: ["◷", "waits", "wait"],
  Impossible: ["✕", "does not fit", "do not fit"], Held: ["–", "is held", "are held"], Unknown: ["?", "is unknown", "are unknown"],
};

page.badge = (outcome) => {
  const [sign, words] = page.outcomes[outcome] || ["…", "not asked yet"];
  return page.make("span", { class: `badge is-${outcome.toLowerCase()}` }, page.make("span", { "aria-hidden": "true" }, sign), " " + words);
};

// name is a name that is cut in its middle where it is too long: often the ends differ.
page.name = (text) => {
  const letters = Array.from(text), last = letters.slice(-14).join("");
  if (letters.length < 20) return [text];
  const end = Math.max(0, last.search(/[-_./]./));
  return [page.make("span", { class: "head" }, letters.slice(0, -14).join("") + last.slice(0, end)), page.make("span", { class: "tail" }, last.slice(end))];
};

// instant is an instant as text. A rule holds up to an instant and ends a nanosecond after it.
const instant = (text) => text.replace(/(\d)T(?=\d)/, "$1 ").replace("Z", " UTC").replace(/\.000000001( UTC)?/, "$1 + 1 ns");
page.time = (text) => page.make("time", { class: "whole" }, instant(text));
page.timeText = instant;

// prose is a text in which no instant is broken.
page.prose = (text) => text.split(/((?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC)?)/).map((part, i) => i % 2 ? page.time(part) : part);

// stick keeps a panel in view beside what scrolls. One that is taller than the window goes with the page until its end is seen. It returns what shows
// its beginning again.
page.stick = (panel) => {
  const gap = 8;
  let top = gap, seen = scrollY;
  const place = (wanted) => {
    top = Math.max(Math.min(gap, innerHeight - panel.offsetHeight - gap), Math.min(gap, wanted));
    panel.style.top = top + "px";
  };
  addEventListener("scroll", () => { place(top - scrollY + seen); seen = scrollY; }, { passive: true });
  new ResizeObserver(() => place(top)).observe(panel);
  return () => place(gap);
};

page.showError = (text) => {
  const e = page.byId("error");
  e.textContent = text || "";
  e.hidden = !text;
};

page.tip = (text, x, y) => {
  const tip = page.byId("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.min(x + 12, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(y + 16, innerHeight - tip.offsetHeight - 8) + "px";
};
