// Writes TypeScript types for each JSON Schema of a folder. node typescript.js SCHEMAS OUT
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileFromFile } from "json-schema-to-typescript";

const [schemas, out] = process.argv.slice(2);
for (const file of readdirSync(schemas)) {
  const types = await compileFromFile(join(schemas, file), {
    bannerComment: "",
    unreachableDefinitions: true,
  });
  writeFileSync(join(out, file.replace(".json", ".ts")), types);
}
