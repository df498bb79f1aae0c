/** Memory in use: what was let go does not count once it was collected. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { LiveMemory } from '../../src/sys/live-memory.ts'

const MIB = 2 ** 20

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** Collects all garbage until the memory is as expected, or does not become so: buffers are given back a little later. */
async function collectUntil(memory: LiveMemory, isThere: (bytes: number) => boolean): Promise<number> {
  for (let i = 0; i < 20 && (i < 3 || !isThere(memory.bytes)); i++) {
    gc()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return memory.bytes
}

test('what is kept counts, what was let go does not, and what nobody collected yet changes nothing', async () => {
  gc()
  const memory = new LiveMemory()
  const before = await collectUntil(memory, () => true)
  const middle = before + 16 * MIB
  let kept: Uint8Array | undefined = new Uint8Array(32 * MIB)
  expect(memory.bytes).toBe(before)
  expect(await collectUntil(memory, (bytes) => bytes > middle)).toBeGreaterThan(middle)
  expect(kept.length).toBe(32 * MIB)
  expect(memory.growth).toBeGreaterThan(16 * MIB)
  kept = undefined
  expect(await collectUntil(memory, (bytes) => bytes < middle)).toBeLessThan(middle)
  memory.close()
})
