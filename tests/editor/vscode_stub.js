"use strict";
// Activates the bundled extension with a stand-in for the editor, and prints what it puts into the list of problems.
const Module = require("node:module");
const { readFileSync } = require("node:fs");
const { pathToFileURL, fileURLToPath } = require("node:url");

const [bundle, program, folder, file] = process.argv.slice(2);
const nothing = () => ({ dispose() {} });
class Plain { constructor(...given) { Object.assign(this, { given }); } }
class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range {
  constructor(...at) {
    [this.start, this.end] = at.length === 2 ? at : [new Position(at[0], at[1]), new Position(at[2], at[3])];
  }
}
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class EventEmitter {
  constructor() { this.heard = []; this.event = (hear) => { this.heard.push(hear); return nothing(); }; }
  fire(thing) { for (const hear of this.heard) hear(thing); }
  dispose() {}
}
class CancellationTokenSource {
  constructor() { this.token = { isCancellationRequested: false, onCancellationRequested: nothing }; }
  cancel() {}
  dispose() {}
}
const uri = (text) => ({
  scheme: "file", path: new URL(text).pathname, fsPath: fileURLToPath(text), toString: () => text, with() { return this; },
});
const Uri = { parse: uri, file: (path) => uri(pathToFileURL(path).href) };
const text = readFileSync(file, "utf-8");
const document = {
  uri: Uri.file(file), fileName: file, languageId: "yaml", version: 1, isClosed: false, getText: () => text,
  lineCount: text.split("\n").length,
};
const registered = [];
const problems = {
  set(where, found) {
    console.log(JSON.stringify({ file: where.fsPath, problems: (found ?? []).map((each) => [each.code?.value ?? each.code, each.range.start.line + 1, each.message]) }));
  },
  delete() {}, clear() {}, dispose() {},
};
const workspace = {
  isTrusted: true, textDocuments: [document], workspaceFolders: [{ uri: Uri.file(folder), name: "shop", index: 0 }],
  getConfiguration: () => ({ get: (name, usual) => (name === "path" ? program : usual), has: () => false, inspect: nothing }),
  createFileSystemWatcher: () => ({ onDidCreate: nothing, onDidChange: nothing, onDidDelete: nothing, dispose() {} }),
  getWorkspaceFolder: () => workspace.workspaceFolders[0],
};
const languages = {
  createDiagnosticCollection: () => problems,
  match: (selector, which) => ([].concat(selector).some((each) => (each.language ?? each) === which.languageId) ? 10 : 0),
};
const channel = { appendLine: (line) => console.error(line), append: (line) => console.error(line), show() {}, clear() {}, dispose() {}, replace() {} };
const window = {
  createOutputChannel: () => channel, visibleTextEditors: [], activeTextEditor: undefined,
  tabGroups: { all: [], onDidChangeTabs: nothing, onDidChangeTabGroups: nothing },
  showErrorMessage: async (message) => console.error(message),
};
// Whatever else the client asks of the editor is there and does nothing: events are never fired, providers are noted.
const filled = (known) => new Proxy(known, {
  get: (of, name) => {
    if (name in of) return of[name];
    if (typeof name !== "string" || name === "then") return undefined;
    if (name.startsWith("register")) return (...given) => { registered.push(name); return nothing(); };
    if (/^on[A-Z]/.test(name)) return nothing;
    return (of[name] = /^[A-Z]/.test(name) ? filled(class extends Plain {}) : nothing);
  },
});
const vscode = filled({
  Uri, Position, Range, Diagnostic, EventEmitter, CancellationTokenSource, version: "1.91.0",
  workspace: filled(workspace), languages: filled(languages), window: filled(window),
  commands: { registerCommand: nothing, executeCommand: async () => {} },
  env: { language: "en", appName: "stub", appRoot: "", openExternal: async () => true },
  extensions: { all: [], getExtension: () => undefined, onDidChange: nothing },
});
const load = Module._load;
Module._load = (name, ...more) => (name === "vscode" ? vscode : load(name, ...more));

(async () => {
  const extension = require(bundle);
  await extension.activate({ subscriptions: [] });
  console.log(JSON.stringify({ registered: [...new Set(registered)].sort() }));
  process.stdin.on("end", async () => { await extension.deactivate(); process.exit(0); }).resume();
})().catch((error) => { console.error(error); process.exit(1); });
