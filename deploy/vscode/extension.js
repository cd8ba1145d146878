"use strict";
// Starts `policylint lsp` and hands over to it: everything that an editor shows comes from the server (docs/editors.md).
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { isAbsolute, join } = require("node:path");

/** @type {LanguageClient | undefined} */
let client;

// The program is not started in the folder: Windows looks there for a program before it looks at PATH, and Python for
// modules, so that whoever wrote the folder would say what runs. The server goes there itself when it is told where.
async function start() {
  const settings = workspace.getConfiguration("policylint");
  const named = settings.get("path", "policylint");
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const isInside = workspace.isTrusted && folder && /[\\/]/.test(named) && !isAbsolute(named); // .venv/bin/policylint
  const command = isInside ? join(folder, named) : named;
  const run = { command, args: settings.get("args", ["lsp"]), options: { cwd: __dirname } };
  client = new LanguageClient("policylint", "policylint", { run, debug: run }, {
    documentSelector: ["yaml", "json"].map((language) => ({ language, scheme: "file" })),
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await window.showErrorMessage(`policylint: ${command} does not start (${error}). pip install 'policylint[lsp]'`, "Settings");
    if (choice) await commands.executeCommand("workbench.action.openSettings", "policylint.path");
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

/** @param {import("vscode").ExtensionContext} context */
exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("policylint.restart", restart),
    workspace.onDidGrantWorkspaceTrust(restart),
    workspace.onDidChangeConfiguration(async (change) => {
      if (["path", "args"].some((name) => change.affectsConfiguration(`policylint.${name}`))) await restart();
    }),
  );
  await start();
};

exports.deactivate = stop;
