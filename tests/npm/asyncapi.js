// Tells of each AsyncAPI document whether it is valid, and its diagnostics, whatever their
// severity, as a JSON line. node asyncapi.js FILE...
import { Parser, fromFile } from "@asyncapi/parser";

for (const file of process.argv.slice(2)) {
  const { document, diagnostics } = await fromFile(new Parser(), file).parse();
  const found = diagnostics.map(({ code, message, path }) => ({
    code,
    message,
    path: path.join("."),
  }));
  console.log(JSON.stringify({ file, valid: Boolean(document) && found.length === 0, found }));
}
