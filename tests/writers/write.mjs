// As write.py, with the library of JavaScript: write.mjs NODE_MODULES SAMPLES FOLDER
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parse, join } from "node:path";
import { pathToFileURL } from "node:url";
import { zstdCompressSync } from "node:zlib";

const [modules, samples, folder] = process.argv.slice(2);
const arrow = await import(pathToFileURL(join(modules, "apache-arrow/Arrow.node.mjs")));
const lz4 = createRequire(pathToFileURL(join(modules, "x")))("lz4js");

const { LZ4_FRAME, ZSTD } = arrow.CompressionType;
arrow.compressionRegistry.set(LZ4_FRAME, { encode: (bytes) => lz4.compress(bytes) });
arrow.compressionRegistry.set(ZSTD, { encode: (bytes) => zstdCompressSync(bytes) });

const options = {
  plain: {},
  lz4: { compressionType: LZ4_FRAME },
  zstd: { compressionType: ZSTD },
  legacy: { writeLegacyIpcFormat: true },
};
const writers = { arrow: arrow.RecordBatchFileWriter, arrows: arrow.RecordBatchStreamWriter };

function* tables() {
  for (const name of readdirSync(samples)) {
    const bytes = readFileSync(join(samples, name));
    yield [parse(name).name, () => [...arrow.RecordBatchReader.from(bytes)]];
    yield [`${parse(name).name}.sliced`, () => arrow.tableFromIPC(bytes).slice(1, -1)];
  }
  const numbers = { IntervalYearMonth: [1, 2], IntervalDayTime: [1, 2, 3, 4] };
  for (const [type, values] of Object.entries(numbers)) {
    const data = arrow.makeData({ type: new arrow[type](), length: 2, data: Int32Array.from(values) });
    yield [type, () => new arrow.Table({ x: new arrow.Vector([data]) })];
  }
}

for (const [name, read] of tables()) {
  for (const [option, given] of Object.entries(options)) {
    for (const [kind, Writer] of Object.entries(writers)) {
      try {
        const written = new Writer(given).writeAll(read()).finish().toUint8Array(true);
        writeFileSync(join(folder, `${name}.${option}.${kind}`), written);
      } catch (error) {
        console.log(`${name}.${option}.${kind}: ${error.message}`);
      }
    }
  }
}
