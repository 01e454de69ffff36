"use strict";
// Until when what runs is safe: asked about what is seen, one after the other.
(() => {
  let known = new Map(), generation = 0;

  // safe answers about a workload that runs, null for none.
  page.safe = (id) => {
    if (generation !== page.state.generation) known = new Map();
    generation = page.state.generation;
    if (!known.has(id)) known.set(id, page.call("safe", { id }).catch(() => null));
    return known.get(id);
  };

  const seen = [];
  const fill = page.soon(async () => {
    while (seen.length) {
      const e = seen.shift(), a = e.isConnected && await page.safe(e.dataset.id);
      if (a) e.replaceChildren(page.make("details", {},
        page.make("summary", { class: `is-${{ Never: "fits", Later: "fits", Unknown: "unknown" }[a.outcome] || "impossible"}`, title: a.words }, a.short), page.make("p", {}, ...page.prose(a.words))));
    }
  });
  const observer = new IntersectionObserver((entries) => {
    for (const e of entries.filter((e) => e.isIntersecting)) { observer.unobserve(e.target); seen.push(e.target); }
    fill();
  });
  // safeCell is the answer in a cell, with the sentence behind it.
  page.safeCell = (id) => {
    const e = page.make("div", { class: "safe", "data-id": id }, "…");
    observer.observe(e);
    return e;
  };

  // What is pointed at for a moment says it, too.
  let over = null, rest = 0;
  page.sayOver = (block, x, y) => {
    if (block === over) return;
    clearTimeout(rest);
    over = block;
    if (block.dataset && block.dataset.id && block.dataset.tip) rest = setTimeout(async () => {
      const a = await page.safe(block.dataset.id);
      if (!a || block !== over || block.dataset.said) return;
      block.dataset.said = "yes";
      page.tip(block.dataset.tip += ". " + a.words, x, y);
    }, 150);
  };
})();
