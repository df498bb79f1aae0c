import { expect, test } from 'vitest'
import { parseDebug } from '../../../src/tools/lib/debug.ts'
import { readVectors } from '../../vectors.ts'

interface DebugCase {
  readonly set: string
  readonly setStatus: number | string
  readonly get: string
}

const { cases } = readVectors<DebugCase>('format/debug_spec.json')

test.each(cases)('reads "$set" as the reference does', ({ set, setStatus, get }) => {
  const names = parseDebug(set)
  expect(names !== undefined).toBe(setStatus === 0)
  if (names === undefined) return
  if (get === 'all') expect(names.size).toBe(56)
  else expect([...names].sort()).toEqual(get.split(',').filter(Boolean).sort())
})
