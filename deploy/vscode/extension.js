"use strict";
// Starts `policylint lsp` and hands over to it: everything that an editor shows comes from the server (docs/editors.md).
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const settings = workspace.getConfiguration("policylint");
  const command = settings.get("path", "policylint");
  const run = { command, args: settings.get("args", ["lsp"]) };
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
