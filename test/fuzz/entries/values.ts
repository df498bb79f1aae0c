/** Results whose values are read as every type, events among them. */
import { unpackEvents } from '../../../src/model/events.ts'
import { PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../../../src/model/types.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { PDU_HIGHRES_RESULT, PDU_RESULT, pduType } from '../../../src/wire/pdu.ts'
import { decodeResult } from '../../../src/wire/result.ts'
import { bytesOf, VECTORS } from '../../wire/vectors.ts'
import { attemptAll, type FuzzEntry } from '../engine/entry.ts'
import { pdu } from './pdu.ts'

const TYPES = [0, 1, 2, 3, 4, 5, 6, 7]

/** Entry of src/model/value-set.ts and src/model/events.ts. */
export const values: FuzzEntry = {
  seeds: () =>
    VECTORS.map(({ hex }) => bytesOf(hex)).filter(
      (bytes) => [PDU_RESULT, PDU_HIGHRES_RESULT].includes(pduType(bytes)) && bytes.length < 2000,
    ),
  repair: (input) => pdu.repair!(input),
  run(input) {
    for (const set of decodeResult(input).sets.slice(0, 20)) {
      const events = [PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT].flatMap((type) =>
        Array.from({ length: Math.min(set.status, 3) }, (_, i) => () => unpackEvents(set, i, type)),
      )
      attemptAll(values, [...TYPES.map((type) => () => valuesOf(set, type)), ...events])
    }
  },
}
