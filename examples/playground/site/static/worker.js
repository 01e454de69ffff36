"use strict";
// The worker runs the model. wasm_exec.js of the Go toolchain stands before this in one file.
(() => {
  const post = (message) => globalThis.postMessage(message);

  // inflate unpacks gzip; a server may have done so already.
  async function inflate(data) {
    const bytes = new Uint8Array(data);
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return data;
    return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  async function start(data) {
    const go = new Go();
    const ready = new Promise((resolve) => { globalThis.cedeReady = resolve; });
    const { instance } = await WebAssembly.instantiate(await inflate(data), go.importObject);
    go.run(instance).then(() => post({ failed: "the program ended: reload the page" }));
    await ready;
  }

  // pieces reads a file piece by piece, and says how far it is.
  function pieces(file) {
    const reader = new FileReaderSync();
    let at = 0;
    return (most) => {
      const piece = file.slice(at, at + most);
      at += piece.size;
      post({ progress: file.size ? at / file.size : 1 });
      return new Uint8Array(reader.readAsArrayBuffer(piece));
    };
  }
  const open = ({ file, name, now }) => file ? cedeOpen(pieces(file), name, now) : cedeOpen(null, "", "");

  let started;
  globalThis.onmessage = async ({ data: { id, name, args } }) => {
    try {
      let out;
      if (name === "start") {
        started = start(args);
        await started;
        out = { result: "null" };
      } else {
        await started;
        out = name === "open" ? open(args) : name === "clusters" ? cedeClusters(pieces(args.file)) : cedeCall(name, JSON.stringify(args));
      }
      // A document stays text: numbers of JavaScript are not exact enough for it.
      const result = out.error !== undefined ? undefined : name === "document" ? out.result : JSON.parse(out.result);
      post({ id, result, error: out.error });
    } catch (e) {
      // The stack of a browser ends before that of a program: the program does not go on after it.
      const deep = e instanceof RangeError;
      post({ id, error: deep ? "The input is nested too deeply for this browser." : String(e && e.message || e) });
      if (deep) post({ failed: "The input is nested too deeply for this browser: reload the page." });
    }
  };
})();
