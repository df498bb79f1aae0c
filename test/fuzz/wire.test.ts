/** Mutated vectors: a decoder decodes any bytes or throws PM_ERR_IPC. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { Framer } from '../../src/wire/framer.ts'
import { pduType } from '../../src/wire/pdu.ts'
import { PDUS } from '../../src/wire/pdus.ts'
import { generator } from '../lib/generator.ts'
import { mutate } from '../lib/mutants.ts'
import { seed } from '../lib/seed.ts'
import { bytesOf, VECTORS } from '../wire/vectors.ts'

const LIMIT_MS = Number(process.env['FUZZ_MS'] ?? 10_000)
const decoders = new Map(PDUS.map((row) => [row.code, row.decode]))

test('mutated PDUs are decoded or rejected', () => {
  const pick = generator(seed)
  const vectors = VECTORS.map((vector) => bytesOf(vector.hex)).filter((bytes) => decoders.has(pduType(bytes)))
  const end = performance.now() + LIMIT_MS
  let runs = 0
  let refused = 0
  while (performance.now() < end && runs < 300_000) {
    const vector = vectors[pick(vectors.length)]!
    const bytes = mutate(vector, pick)
    runs++
    try {
      decoders.get(pduType(vector))!(bytes)
    } catch (error) {
      refused++
      if (!(error instanceof PcpError) || error.code !== 'PM_ERR_IPC')
        expect.fail(`run ${runs}: ${error} for ${Buffer.from(bytes).toString('hex')}`)
    }
  }
  console.log(`wire fuzz: ${runs} mutated PDUs, ${refused} refused`)
  expect(runs).toBeGreaterThan(100)
})

test('random streams yield PDUs or PM_ERR_IPC', () => {
  const pick = generator(seed + 1)
  for (let run = 0; run < 2000; run++) {
    const stream = Uint8Array.from({ length: 200 }, (_, i) => (i % 16 < 3 ? 0 : pick(64)))
    const framer = new Framer((pdu) => expect(pdu.length).toBeGreaterThanOrEqual(12), 65536)
    try {
      for (let at = 0; at < stream.length; ) {
        const next = at + 1 + pick(50)
        framer.push(stream.subarray(at, next))
        at = next
      }
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
    }
  }
})
