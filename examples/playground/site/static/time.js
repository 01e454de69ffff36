"use strict";
// The time slider and its marks.
(() => {
  let times = { seconds: 3600, marks: [] };
  const slider = page.byId("slider");

  page.time = (text) => text.replace("T", " ").replace(/\.(\d+)Z$/, ".$1Z").replace("Z", " UTC");

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
    clock.replaceChildren(page.make("time", {}, page.time(summary.at)), seconds > 0 ? page.make("span", { class: "ahead" }, ` in ${ahead(seconds)}`) : "");
    slider.setAttribute("aria-valuetext", page.time(summary.at) + (seconds > 0 ? `, in ${ahead(seconds)}` : ""));
    page.byId("earlier").disabled = seconds <= 0;
    page.byId("later").disabled = !times.marks.some((m) => m.seconds > seconds);
  };

  page.drawTimes = (t, summary) => {
    times = t;
    slider.max = Math.ceil(t.seconds);
    slider.value = summary.seconds;
    page.byId("marks").replaceChildren(...t.marks.filter((m) => m.seconds <= t.seconds).map((m) => {
      const e = page.make("span", { class: `mark ${m.kind}`, "data-tip": `${page.time(m.at)}: ${m.text}` });
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
