"use strict";
// The time slider, its marks, and the events at which they stand.
(() => {
  let times = { seconds: 3600, marks: [] };
  const slider = page.byId("slider");

  const ahead = (seconds) => {
    const s = Math.round(seconds), parts = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
    let rest = s, out = "";
    for (const [size, unit] of parts) {
      const n = Math.floor(rest / size);
      rest -= n * size;
      if (n && out.split(" ").length < 3) out += ` ${n}${unit}`;
    }
    return out.trim();
  };

  page.drawTime = (summary) => {
    const seconds = summary.seconds;
    if (document.activeElement !== slider || Number(slider.value) !== Math.round(seconds)) slider.value = seconds;
    const clock = page.byId("clock");
    clock.replaceChildren(page.time(summary.at), seconds > 0 ? page.make("span", { class: "ahead" }, ` in ${ahead(seconds)}`) : "");
    slider.setAttribute("aria-valuetext", page.timeText(summary.at) + (seconds > 0 ? `, in ${ahead(seconds)}` : ""));
    page.byId("earlier").disabled = seconds <= 0;
    page.byId("later").disabled = !times.marks.some((m) => m.seconds > seconds);
    drawEvents(summary);
  };

  // drawEvents lists the next events with what they are; each leads to its instant.
  function drawEvents(summary) {
    const box = page.byId("events"), rest = times.marks.filter((m) => m.seconds > summary.seconds);
    box.hidden = rest.length === 0;
    if (box.hidden) return;
    const instants = [];
    for (const m of rest) {
      const last = instants.at(-1);
      if (last && last.at === m.at) last.texts.push(m.text); else instants.push({ at: m.at, seconds: m.seconds, texts: [m.text] });
    }
    const event = (i) => page.make("li", {}, page.make("button", { type: "button", class: "link whole", title: page.timeText(i.at), onclick: () => page.moveTo({ at: i.at }) },
      `in ${ahead(i.seconds)}`), " ", i.texts.join("; "));
    const shown = 3;
    box.replaceChildren(page.make("ol", {}, ...instants.slice(0, shown).map(event)), instants.length > shown
      ? page.make("details", {}, page.make("summary", {}, `and ${instants.length - shown} later`), page.make("ol", {}, ...instants.slice(shown).map(event))) : "");
  }

  page.drawTimes = (t, summary) => {
    times = t;
    slider.max = Math.ceil(t.seconds);
    slider.value = summary.seconds;
    page.byId("marks").replaceChildren(...t.marks.filter((m) => m.seconds <= t.seconds).map((m) => {
      const e = page.make("span", { class: `mark ${m.kind}`, "data-tip": `${page.timeText(m.at)}: ${m.text}` });
      e.style.left = `${100 * m.seconds / Math.ceil(t.seconds)}%`;
      if (m.kind === "retry") e.append(page.make("span", { class: "flag" }, "RetryAt"));
      if (m.seconds / t.seconds > 0.9) e.classList.add("late");
      return e;
    }));
    page.drawTime(summary);
  };

  const now = () => page.state.summary.seconds;
  page.byId("later").addEventListener("click", () => {
    const m = times.marks.find((m) => m.seconds > now());
    if (m) page.moveTo({ at: m.at });
  });
  page.byId("earlier").addEventListener("click", () => {
    const m = times.marks.findLast((m) => m.seconds < now());
    page.moveTo(m ? { at: m.at } : { seconds: 0 });
  });
  slider.addEventListener("input", () => page.moveTo({ seconds: Number(slider.value) }));
})();
