// One file instead of three hundred: `npm run bundle` writes dist/extension.js, and beside it the licences of what is in it.
import { build } from "esbuild";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const { metafile } = await build({
  entryPoints: ["extension.js"], outfile: "dist/extension.js", bundle: true, minify: true, metafile: true,
  platform: "node", target: "node20", external: ["vscode"],
});
const packages = [...new Set(Object.keys(metafile.inputs).flatMap((file) => file.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []))];
const licences = packages.sort().map((place) => {
  const { name, version, license } = JSON.parse(readFileSync(`${place}/package.json`, "utf-8"));
  const file = readdirSync(place).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version}: ${license}\n\n${file ? readFileSync(`${place}/${file}`, "utf-8").trim() : ""}\n`;
});
writeFileSync("dist/licences.txt", licences.join("\n\n"));
