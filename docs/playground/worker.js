"use strict";
// Python in a thread of its own. It gets all it needs from the page and never asks a network for anything.
const HOST = "https://policylint.invalid/";

function imported(bytes) {
  return import(URL.createObjectURL(new Blob([bytes], { type: "text/javascript" })));
}

async function start(parts) {
  // A page that was opened as a file may start no worker that is a module, and Pyodide wants to be in no other kind.
  // All that it needs of one is import().
  self.importScripts = undefined;
  self.fetch = async (asked) => {
    const name = String(asked.url || asked).slice(HOST.length);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return parts[name] ? new Response(parts[name], { headers: { "Content-Type": type } }) : new Response(null, { status: 404 });
  };
  const [{ loadPyodide }, asm, re2js] = await Promise.all([
    imported(parts["pyodide.mjs"]), imported(parts["pyodide.asm.mjs"]), imported(parts["re2js.js"])]);
  self.RE2JS = re2js.RE2JS;
  const python = await loadPyodide({
    indexURL: HOST,
    lockFileContents: new TextDecoder().decode(parts["pyodide-lock.json"]),
    createPyodideModule: asm.default,
    env: { HOME: "/home/pyodide", NO_COLOR: "1" },
  });
  python.FS.writeFile("/libraries.zip", new Uint8Array(parts["libraries.zip"]));
  python.unpackArchive(parts["policylint.zip"], "zip", { extractDir: "/policylint" });
  python.runPython('import sys\nsys.path[:0] = ["/policylint", "/policylint/runtime", "/libraries.zip"]\nimport bridge');
  return python.globals.get("bridge") || python.pyimport("bridge");
}

let bridge;
self.onmessage = async ({ data }) => {
  try {
    if (data.parts) {
      bridge = await start(data.parts);
      self.postMessage({ ready: true });
    } else {
      self.postMessage({ number: data.number, answer: JSON.parse(bridge.answer(data.question)) });
    }
  } catch (error) {
    self.postMessage({ number: data.number, failure: String(error) });
  }
};
