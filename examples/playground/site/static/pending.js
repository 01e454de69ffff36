"use strict";
// The waiting workloads with their answers.
(() => {
  page.drawPending = (r) => {
    const words = r.words.replace(/^(no: |held: |unknown: |gated: |preempts |fits now)/, "");
    const e = page.make("div", {
      class: "pending-row" + (r.id === page.state.summary.selected ? " selected" : ""), "aria-selected": String(r.id === page.state.summary.selected),
      "aria-label": `${r.id} in queue ${r.queue}, priority ${r.priority}: ${r.words}${r.change ? `; ${r.change} than before: ${r.before}` : ""}`,
    },
      page.make("div", { class: "name", role: "gridcell", title: r.id }, ...page.name(r.id)),
      page.make("div", { class: "queue", role: "gridcell", title: r.queue }, ...page.name(r.queue), r.position ? page.make("span", { class: "place" }, ` #${r.position}`) : null),
      page.make("div", { class: "number", role: "gridcell" }, page.swatch(r.colour), ` ${r.priority}`),
      page.make("div", { class: "verdict", role: "gridcell", title: r.words }, page.badge(r.outcome), " ", page.make("span", { class: "words" }, words)),
      page.make("div", { class: "change " + (r.change || ""), role: "gridcell", title: r.before || "" }, { better: "▲ better", worse: "▼ worse", other: "◆ other" }[r.change] || ""));
    return e;
  };

  page.swatch = (colour) => {
    const svg = page.shape("svg", { width: 10, height: 10, class: "swatch", "aria-hidden": "true" });
    svg.append(page.shape("rect", { width: 10, height: 10, class: `block p${colour}` }));
    return svg;
  };

  page.drawTally = (t) => {
    const say = (n, o) => `${n.toLocaleString("en")} ${page.outcomes[o][n === 1 ? 1 : 2]}`;
    // An answer that was chosen stays a button, so that it can be left again.
    const parts = Object.keys(page.outcomes).filter((o) => t.outcomes[o] || o === page.state.outcome).map((o) => page.make("button", {
      type: "button", class: "only", "aria-pressed": String(o === page.state.outcome), title: o === page.state.outcome ? "Show all" : "Show these alone",
      "data-outcome": o, onclick: () => page.choose(o === page.state.outcome ? "" : o),
    }, say(t.outcomes[o] || 0, o)));
    let text = "";
    if ((t.outcomes.Fits || 0) + (t.outcomes.Preempt || 0) > 1) text += " (each as if it were alone)";
    if (t.left) text += ` · ${t.left} to ask`;
    const focused = document.activeElement?.dataset?.outcome;
    page.byId("tally").replaceChildren(...parts.flatMap((p, i) => i ? [" · ", p] : [p]), text);
    if (focused) page.byId("tally").querySelector(`[data-outcome="${focused}"]`)?.focus({ preventScroll: true });
    page.byId("changed").closest("label").hidden = !page.state.summary.edits.length;
    page.drawEdits(t);
  };
})();
