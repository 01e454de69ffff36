"use strict";
// The engine is the worker, or the program that serves the page: calls go to it and answers come back, in order.
(() => {
  const embedded = (id) => {
    const e = page.byId(id);
    return e ? Uint8Array.from(atob(e.textContent.trim()), (c) => c.charCodeAt(0)) : null;
  };
  const worker = () => {
    const source = embedded("embedded-worker");
    return new Worker(source ? URL.createObjectURL(new Blob([source], { type: "text/javascript" })) : "worker.js");
  };
  const waiting = new Map();
  let number = 0, engine;

  const listen = ({ data }) => {
    if (data.progress !== undefined) { page.progress("Reading", data.progress); return; }
    if (data.failed) { page.showError(data.failed); return; }
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error !== undefined) reject(new Error(data.error)); else resolve(data.result);
  };

  page.call = (name, args = {}, transfer = []) => new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    engine.postMessage({ id: number, name, args }, transfer);
  });

  // ask makes a call of the program, which keeps what this page has open under its name.
  const name = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  const ask = async (path, type, body) => {
    const response = await fetch(path, { method: "POST", headers: { "Content-Type": type, "Cede-Page": name }, body });
    if (!response.ok) throw new Error(`The program answers ${response.status}.`);
    return response.text();
  };
  let last = Promise.resolve();
  const callProgram = (call, args = {}) => {
    const answer = last.then(() => call === "clusters" ? ask("clusters", "application/octet-stream", args.file) : call !== "open" ? ask(`call/${call}`, "application/json", JSON.stringify(args))
      : ask(`open?name=${encodeURIComponent(args.name)}&now=${encodeURIComponent(args.now)}`, "application/octet-stream", args.file));
    last = answer.catch(() => {});
    return answer.then((text) => {
      const out = JSON.parse(text);
      if (out.error !== undefined) throw new Error(out.error);
      return call === "document" ? text.trim().slice('{"result":'.length, -1) : out.result; // numbers of JavaScript are not exact enough for it
    });
  };

  page.startEngine = async () => {
    if (document.documentElement.dataset.engine === "program") {
      page.call = callProgram;
      page.byId("where").textContent = "The program that serves this page answers, on its own machine: nothing is sent elsewhere.";
      return;
    }
    engine = worker();
    engine.onmessage = listen;
    engine.onerror = (e) => page.showError("The program did not start: " + (e.message || "the worker failed"));
    let data = embedded("embedded-wasm");
    data = data ? data.buffer : await (await fetch("cede.wasm.gz")).arrayBuffer();
    await page.call("start", data, [data]);
  };

  // unzipped returns a file without gzip: the program in the browser does not read it.
  page.unzipped = async (file) => {
    const [a, b] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    if (a !== 0x1f || b !== 0x8b) return file;
    return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob().catch((e) => { throw new Error(`the gzip is damaged: ${e.message}`); });
  };

  // embeddedDocument returns the document of a report, which is gzipped; null if there is none.
  page.embeddedDocument = async () => {
    const data = embedded("embedded-document");
    return data && page.unzipped(new Blob([data]));
  };

  page.progress = (what, part) => {
    const box = page.byId("progress"), bar = page.byId("bar");
    box.hidden = !what;
    if (!what) return;
    page.byId("doing").textContent = what;
    if (part === undefined) bar.removeAttribute("value"); else bar.value = part;
  };
})();
