"use strict";
// Several clusters: a manager of MultiKueue and its workers, side by side. The page shows one of them below.
(() => {
  let given = []; // the files

  const verdicts = { running: "fits", fits: "fits", "gate-opens-now": "fits", "waits-for-victims": "wait", "gate-opens-at": "wait" };
  const clock = (text) => text ? page.time(text) : "";
  const show = (file, words) => page.make("button", { type: "button", class: "link", onclick: () => page.open(file, file.name) }, words);
  const of = (worker) => given.find((f) => f.name.split(".")[0] === worker);

  const columns = ["gate", "signals since", "opens", "answer"];
  const cell = (column, ...children) => page.make("td", { "data-label": columns[column] }, ...children);
  const row = (answer) => (w) => {
    const file = of(w.worker), name = w.worker + (w.reached ? "" : " (lost)");
    return page.make("tr", {}, page.make("th", { scope: "row" }, file ? show(file, name) : name),
      cell(0, w.gate, w.since ? " since " : "", clock(w.since)), cell(1, clock(w.signal)), cell(2, clock(w.opens)),
      cell(3, ...page.prose(w.words), answer.cheapest === w.worker ? page.make("b", {}, " loses least") : null));
  };

  const one = (answer) => page.make("article", {},
    page.make("p", { class: `verdict is-${verdicts[answer.verdict] || "impossible"}` }, ...page.prose(answer.sentence)),
    answer.design ? page.make("p", {}, "The design does otherwise: ", ...page.prose(answer.design), ".") : null,
    page.make("table", {}, page.make("thead", {}, page.make("tr", {}, ...["worker", ...columns].map((n) => page.make("th", { scope: "col" }, n)))),
      page.make("tbody", {}, ...answer.workers.map(row(answer)))),
    page.make("ul", {}, ...answer.doubts.filter((d) => !answer.sentence.includes(d)).map((d) => page.make("li", {}, ...page.prose(d)))));

  // drawClusters shows answers; null: one cluster is open, and nothing is shown.
  page.drawClusters = (answers) => {
    page.byId("clusters").hidden = !answers;
    if (!answers) { given = []; return; }
    page.byId("clusters-files").replaceChildren("Show below: ", ...given.flatMap((f, i) => [i ? " · " : "", show(f, f.name)]));
    page.byId("clusters-answers").replaceChildren(...answers.workloads.slice(0, 100).map(one),
      answers.workloads.length ? "" : "The manager has sent out no workload that does not run.", page.make("ul", {}, ...answers.notes.map((n) => page.make("li", {}, n))));
  };

  // openClusters asks about several files: the manager's, and one of each worker, which has its name.
  page.openClusters = async (files) => {
    page.showError("");
    page.progress("Reading", 0);
    const sorted = [...files].sort((a, b) => a.name < b.name ? -1 : 1);
    try {
      const files = await Promise.all(sorted.map(page.unzipped));
      const head = JSON.stringify({ now: page.now(), files: sorted.map((f, i) => ({ name: f.name, size: files[i].size })) });
      const answers = await page.call("clusters", { file: new Blob([head, "\n", ...files]) });
      given = sorted;
      page.drawClusters(answers);
    } catch (e) {
      page.progress(null);
      page.showError(e.message);
      return;
    }
    await page.open(sorted[0], sorted[0].name);
  };

  // openFiles opens what was dropped or chosen.
  page.openFiles = async (files) => {
    if (files.length > 1) { await page.openClusters(files); return; }
    page.drawClusters(null);
    if (files.length) await page.open(files[0], files[0].name);
  };
})();
