/** JSON as pmjson reads it. */
import { JsonError, parseJson } from '../../../src/tools/pmjson/parse.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/tools/pmjson. */
export const pmjson: FuzzEntry = textEntry({
  seeds: () => ['{"a":[1,-2.5e3,true,false,null,"\\u00e9\\n"],"b":{"c":{}}}', '[]', '"x"'],
  mayThrow: (error) => error instanceof JsonError,
  run: (text) => void parseJson(text),
})
