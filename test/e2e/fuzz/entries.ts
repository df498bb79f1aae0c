/** Entries with planted faults that only a coverage-guided search finds soon, to test the fuzzer. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PcpError } from '../../../src/model/errors.ts'
import type { FuzzEntry } from '../../fuzz/engine/entry.ts'

const seeds = (): Uint8Array[] => [Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)]

/** Compares each byte separately: eight correct bytes are never guessed together. */
function depthOf(input: Uint8Array): number {
  if (input[0] !== 0x91) return 0
  if (input[1] !== 0x2c) return 1
  if (input[2] !== 0xe7) return 2
  if (input[3] !== 0x0b) return 3
  return 4
}

function refuse(): never {
  throw new PcpError('PM_ERR_CONV', 'no such thing')
}

function fault(depth: number): void {
  if (depth === 4) (undefined as unknown as { x: number }).x++
  refuse()
}

function hang(): never {
  for (;;);
}

function exhaust(): never {
  const kept: number[][] = []
  for (;;) kept.push(Array.from({ length: 1e5 }, (_, i) => i))
}

/** Entries by their fault. */
export const ENTRIES: Readonly<Record<string, () => Promise<FuzzEntry>>> = {
  throws: async () => ({ seeds, run: (input) => fault(depthOf(input)) }),
  rejects: async () => ({
    seeds,
    async run(input) {
      await nextTurn()
      fault(depthOf(input) >= 2 ? 4 : 0)
    },
  }),
  hangs: async () => ({ seeds, run: (input) => (depthOf(input) >= 2 ? hang() : refuse()) }),
  exhausts: async () => ({ seeds, run: (input) => (depthOf(input) >= 2 ? exhaust() : refuse()) }),
  fine: async () => ({ seeds, run: (input) => void depthOf(input) }),
}
