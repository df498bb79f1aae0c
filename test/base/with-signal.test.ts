import { getEventListeners } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withSignal } from '../../src/base/with-signal.ts'
import { BackgroundReading } from '../../src/pmda/background-reading.ts'

test('the signal of the work is aborted with each of the others, with its reason', async () => {
  for (const index of [0, 1]) {
    const controllers = [new AbortController(), new AbortController()]
    const signals = [undefined, ...controllers.map(({ signal }) => signal)]
    const reason = await withSignal({ signals }, (signal) => {
      controllers[index]!.abort('why')
      expect(signal.aborted).toBe(true)
      return signal.reason as unknown
    })
    expect(reason).toBe('why')
  }
})

test('a signal that was aborted before aborts it from the beginning', async () => {
  const isAborted = await withSignal({ signals: [AbortSignal.abort('early')] }, (signal) => signal.aborted)
  expect(isAborted).toBe(true)
})

test('a timeout aborts it as AbortSignal.timeout does', async () => {
  const reason = await withSignal(
    { signals: [], timeoutMs: 1 },
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason))),
  )
  expect(reason).toMatchObject({ name: 'TimeoutError' })
})

test('work can abort itself, and what it throws is passed on', async () => {
  const { signal } = new AbortController()
  const work = withSignal({ signals: [signal] }, async (own, abort) => {
    abort('itself')
    throw own.reason
  })
  await expect(work).rejects.toBe('itself')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

/** Returns the listeners left on a long-lived signal, and the growth of the heap, in bytes for each call. */
async function costOf(times: number, work: () => unknown): Promise<number> {
  const collect = (globalThis as { gc?: () => void }).gc
  for (let i = 0; i < 1000; i++) await work()
  collect?.()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < times; i++) await work()
  collect?.()
  return (process.memoryUsage().heapUsed - before) / times
}

test('100,000 refreshes leave no listener and do not grow the heap', async () => {
  // Node collects garbage only when needed, so the test triggers it.
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  Object.assign(globalThis, { gc: runInNewContext('gc') as () => void })
  const lifelong = new AbortController().signal
  const perWork = await costOf(100_000, () => withSignal({ signals: [lifelong] }, () => undefined))
  expect(getEventListeners(lifelong, 'abort')).toEqual([])
  let signals: AbortSignal | undefined
  const reading = new BackgroundReading(
    (signal) => {
      signals = signal
      return 1
    },
    { intervalMs: 1_000_000 },
  )
  const perRefresh = await costOf(100_000, () => reading.refreshNow())
  reading.close()
  expect(signals?.aborted).toBe(false) // it is not linked any more
  expect(reading.refreshes).toBe(101_000)
  // AbortSignal.any leaves 300 to 1,000 bytes each time on Node 20.
  expect(perWork).toBeLessThan(30)
  expect(perRefresh).toBeLessThan(30)
})

/** These remove their listeners themselves. */
const OWN_LISTENERS: ReadonlySet<string> = new Set(['base/on-abort.ts', 'pmlogger/signals.ts'])

test('signals are listened to through onAbort and withSignal alone', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const found = files.filter((name) => {
    const code = readFileSync(join('src', name), 'utf8').replace(/^\s*(?:\*|\/\/|\/\*\*).*$/gm, '')
    return /AbortSignal\.any\(|addEventListener\(\s*'abort'/.test(code) && !OWN_LISTENERS.has(name)
  })
  expect(found).toEqual([])
})
