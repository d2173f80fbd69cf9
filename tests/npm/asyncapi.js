// Prints each diagnostic of an AsyncAPI document, whatever its severity, as a JSON line. node asyncapi.js FILE
import { Parser, fromFile } from '@asyncapi/parser'

const { document, diagnostics } = await fromFile(new Parser(), process.argv[2]).parse()
for (const { code, message, path } of diagnostics) {
  console.log(JSON.stringify({ code, message, path: path.join('.') }))
}
process.exitCode = document && diagnostics.length === 0 ? 0 : 1
