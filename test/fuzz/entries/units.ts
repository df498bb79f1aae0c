/** Units as text. */
import { parseUnits } from '../../../src/model/parse-units.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/model/parse-units.ts. */
export const units: FuzzEntry = textEntry({
  seeds: () => ['Kbyte / sec', 'count x 10^6', '2.5 Mbyte^2 / hour^-3', 'none', '1024 byte/ 10 count'],
  maxLength: 256,
  run: (text) => void parseUnits(text),
})
