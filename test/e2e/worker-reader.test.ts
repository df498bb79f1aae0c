/** Reading in a thread: real threads, real modules. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { BackgroundReading } from '../../src/pmda/background-reading.ts'
import { WorkerReader } from '../../src/pmda/worker-reader.ts'

const top = mkdtempSync(join(tmpdir(), 'worker-reader-'))
afterAll(() => rmSync(top, { recursive: true }))

const module = join(top, 'reads.mjs')
writeFileSync(
  module,
  `import { threadId } from 'node:worker_threads'
export const read = (input) => { console.log('not for the protocol'); return { input, threadId } }
export const later = async () => new Map([['a', 1n]])
export const fails = () => { throw Object.assign(new Error('no such table'), { code: 'ENOENT' }) }
export const odd = () => { throw Object.assign(new Error('odd'), { code: 'ERR_OF_SOMEBODY' }) }
export const ends = () => process.exit(3)
export const stuck = () => { for (;;); }
export const eats = () => { const all = []; for (;;) all.push(new Array(1e5).fill({})) }
`,
)

test('one thread serves all calls', async () => {
  const reader = new WorkerReader<{ input: string; threadId: number }>(module, { input: 'x' })
  const [first, second] = [await reader.read(), await reader.read()]
  expect(first).toEqual({ input: 'x', threadId: second.threadId })
  expect(first.threadId).not.toBe(0)
  await reader.close()
  await expect(reader.read()).rejects.toThrow('The reader is closed')
})

test('promises and URLs as well', async () => {
  const reader = new WorkerReader<Map<string, bigint>>(pathToFileURL(module), { exportName: 'later' })
  expect(await reader.read()).toEqual(new Map([['a', 1n]]))
  await reader.close()
})

test.each([
  ['fails', 'ENOENT', 'no such table'],
  ['odd', 'PM_ERR_GENERIC', 'odd'],
  ['ends', 'PM_ERR_GENERIC', 'the thread ended'],
  ['missing', 'PM_ERR_GENERIC', 'is not a function'],
])('%s: %s', async (exportName, code, text) => {
  const reader = new WorkerReader(module, { exportName })
  for (let i = 0; i < 2; i++)
    await expect(reader.read()).rejects.toMatchObject({ code, message: expect.stringContaining(text) })
  await reader.close()
})

test('a module that cannot be loaded is reported', async () => {
  const reader = new WorkerReader(join(top, 'none.mjs'))
  await expect(reader.read()).rejects.toMatchObject({ message: expect.stringContaining('none.mjs') })
  await reader.close()
})

test('a thread that exhausts its memory ends alone', async () => {
  const reader = new WorkerReader(module, { exportName: 'eats', maxHeapMb: 16 })
  await expect(reader.read()).rejects.toMatchObject({ code: 'PM_ERR_GENERIC' })
  await reader.close()
})

test('an endless loop is terminated, and the next call uses a new thread', async () => {
  const reader = new WorkerReader(module, { exportName: 'stuck' })
  const reading = new BackgroundReading((signal) => reader.read(signal), { intervalMs: 50, timeoutMs: 200 })
  await reading.start()
  expect(reading.error?.code).toBe('ETIMEDOUT')
  reading.close()
  await reader.close()
})
