// Compiles each JSON Schema of a folder in ajv's strict mode and prints what it refuses. node
// schemas.js FOLDER
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";

for (const file of readdirSync(process.argv[2])) {
  try {
    new Ajv2020({ strict: true }).compile(
      JSON.parse(readFileSync(join(process.argv[2], file), "utf8")),
    );
  } catch (error) {
    console.log(JSON.stringify({ file, error: error.message }));
    process.exitCode = 1;
  }
}
