// Prints what of some scripts is newer than an edition of the language. node syntax.js YEAR FILE...
import { readFileSync } from "node:fs";
import { parse } from "acorn";

const [year, ...files] = process.argv.slice(2);
for (const file of files) {
  try {
    parse(readFileSync(file, "utf8"), { ecmaVersion: Number(year), sourceType: "module" });
  } catch (error) {
    console.log(`${file}: ${error.message}`);
  }
}
