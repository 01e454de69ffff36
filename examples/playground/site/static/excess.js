"use strict";
// What is over its quota or limit, and who has to leave if usage is to be within it.
(() => {
  const jump = (label, at) => page.make("span", {}, label, " ", page.time(at), " ",
    page.make("button", { type: "button", "aria-label": `${label}: go there`, onclick: () => page.moveTo({ at }) }, "Go there"));

  const node = (n) => page.make("div", {},
    page.make("h3", {}, page.make("button", { type: "button", class: "link", onclick: () => page.showNode(n.cohort, n.name) }, n.title)),
    ...n.lines.map((l) => page.make("p", {}, ...page.prose(l))), n.more ? page.make("p", { class: "hint" }, `and ${n.more} more`) : null);

  // drawExcess shows it; null: nothing is over, and nothing is shown.
  page.drawExcess = (s) => {
    const box = page.byId("excess");
    box.hidden = !s;
    if (!s) return;
    const held = box.contains(document.activeElement) ? document.activeElement.textContent : null;
    const words = page.byId("excess-words");
    if (words.textContent !== s.words) words.textContent = s.words;
    page.byId("excess-before").textContent = s.before ? `Without the changes: ${s.before}` : "";
    page.byId("excess-times").replaceChildren(...(s.retryAt ? [jump("More may leave at", s.retryAt)] : []));
    page.byId("excess-nodes").replaceChildren(...s.nodes.map(node), s.more ? page.make("p", { class: "hint" }, `and ${s.more} more queues and cohorts`) : "");
    if (held !== null) ([...box.querySelectorAll("button, summary")].find((e) => e.textContent === held) || box).focus();
  };

  page.showExcess = () => { page.byId("excess").scrollIntoView({ block: "nearest" }); page.byId("excess").focus({ preventScroll: true }); };
})();
