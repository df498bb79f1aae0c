/** Labels as JSON. */
import { parseLabels } from '../../../src/model/label-json.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/model/label-json.ts. */
export const labels: FuzzEntry = textEntry({
  seeds: () => [
    '{"hostname":"a","device":{"type":"disk","n":[1,-2.5e3,true,null]},"e":"\\u00e9\\n"}',
    '{}',
    ' { "a" : { "b" : { "c" : 1 } } } ',
  ],
  run: (text) => void parseLabels(text, 0),
})
