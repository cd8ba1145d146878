// Compile what the page imports by the Python that is to run it, so that no browser has to:
//   node compile.mjs NODE_MODULES FOLDER
// FOLDER holds the archives of the page and questions.json, for bridge.answer; modules that their answers import become byte
// code, without docstrings where nobody reads them. All others are kept as they are. The archives are written anew.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

process.on("uncaughtException", (error) => { // without the line of source, which is all of Pyodide
  console.error(String(error));
  process.exit(1);
});
const [modules, folder] = process.argv.slice(2);
const ARCHIVES = ["python_stdlib.zip", "libraries.zip", "policylint.zip"];
globalThis.RE2JS = (await import(pathToFileURL(`${modules}/re2js/build/index.js`).href)).RE2JS;
const { loadPyodide } = await import(pathToFileURL(`${modules}/pyodide/pyodide.mjs`).href);
const python = await loadPyodide({
  indexURL: `${modules}/pyodide/`,
  stdLibURL: pathToFileURL(`${folder}/python_stdlib.zip`).href,
  env: { HOME: "/home/pyodide", NO_COLOR: "1", PYTHONHASHSEED: "0" },
});
for (const name of ARCHIVES) python.FS.writeFile(`/${name}`, readFileSync(`${folder}/${name}`));
python.unpackArchive(new Uint8Array(readFileSync(`${folder}/policylint.zip`)), "zip", { extractDir: "/policylint" });
python.globals.set("questions", readFileSync(`${folder}/questions.json`, "utf-8"));
python.runPython(`
import ast
import json
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import source_hash

sys.path[:0] = ["/policylint", "/policylint/runtime", "/libraries.zip"]
import bridge

for question in json.loads(questions):
    answer = json.loads(bridge.answer(json.dumps(question)))["answer"]
    if answer["code"] not in (0, 1) or "Error" in answer["err"]:
        raise SystemExit(f"{question['command']}: {answer['err']}")
used = {str(getattr(module, "__file__", "")) for module in list(sys.modules.values())}


def silent(tree):
    """Return the tree of a module without its docstrings, of which byte code has none either."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            if isinstance(body[0].value.value, str):
                node.body = body[1:] or [ast.Pass()]
    return tree


def written(archive, root):
    """Write an archive with byte code for the modules that are used; root is where they were imported from."""
    with zipfile.ZipFile(archive) as source:
        content = {name: source.read(name) for name in source.namelist() if not name.endswith("/")}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as target:
        for name, data in content.items():
            if f"{root}/{name}" in used and name.endswith(".py"):
                level = 0 if name.startswith("policylint/cli/") else 2  # there docstrings are the text of --help
                code = compile(data, name, "exec", dont_inherit=True, optimize=level)
                name, data = name + "c", _code_to_hash_pyc(code, source_hash(data), checked=False)
            elif name.startswith("policylint/") and name.endswith(".py") and not name.startswith("policylint/cli/"):
                data = ast.unparse(silent(ast.parse(data))).encode()
            target.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)


stdlib = next(path for path in sys.path if path.endswith(".zip") and "/lib/" in path)
for archive, root in (("python_stdlib", stdlib), ("libraries", "/libraries.zip"), ("policylint", "/policylint")):
    written(f"/{archive}.zip", root)
`);
for (const name of ARCHIVES) writeFileSync(`${folder}/${name}`, python.FS.readFile(`/${name}`));
