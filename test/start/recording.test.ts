/** Recording over several days, with a test clock. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type { Clock } from '../../src/pmapi/clock.ts'
import type { LoggerEnd } from '../../src/pmlogger/settings.ts'
import { type OpenArchive, Recording } from '../../src/start/recording.ts'
import type { TidyResult } from '../../src/start/retention.ts'

const HOUR_MS = 3_600_000
const NOTHING: TidyResult = { compressed: [], removed: [], problems: [] }

/** A clock that advances only when told to, waking sleepers in order. */
class TestClock implements Clock {
  #now: number
  #sleepers: { until: number; wake: () => void }[] = []

  constructor(...date: [number, number, number, number, number]) {
    this.#now = new Date(...date).getTime()
  }

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => reject(new PcpError('ECANCELED'))
      const wake = (): void => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      this.#sleepers.push({ until: this.#now + ms, wake })
      signal?.addEventListener('abort', cancel, { once: true })
      if (signal?.aborted === true) cancel()
    })
  }

  /** Advances the clock. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      await settled()
      const next = this.#sleepers.sort((a, b) => a.until - b.until)[0]
      if (next === undefined || next.until > end) break
      this.#sleepers.shift()
      this.#now = Math.max(this.#now, next.until)
      next.wake()
    }
    this.#now = end
  }

  /** Sets the time of day; sleepers still sleep their full time. */
  set(...date: [number, number, number, number, number]): void {
    const before = this.#now
    this.#now = new Date(...date).getTime()
    for (const sleeper of this.#sleepers) sleeper.until += this.#now - before
  }
}

/** Waits until all pending callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface TestArchive extends OpenArchive {
  /** Ends by itself with an error. */
  fail(reason: string): void
}

function run(clock: TestClock, problems: (string | undefined)[] = []) {
  const events: string[] = []
  const archives: TestArchive[] = []
  const tidied: (string | undefined)[] = []
  let next: TidyResult = NOTHING
  const recording = new Recording({
    begin: async () => {
      const problem = problems.shift()
      if (problem !== undefined) throw new PcpError('ENOSPC', problem)
      const archive = newArchive(`archive${archives.length + 1}`, events)
      archives.push(archive)
      events.push(`begin ${archive.name} ${new Date(clock.now()).toTimeString().slice(0, 5)}`)
      return archive
    },
    tidy: async (inUse) => {
      tidied.push(inUse())
      return next
    },
    clock,
    print: (line) => events.push(`print ${line}`),
    log: () => {},
  })
  const tells = (result: Partial<TidyResult>): void => {
    next = { ...NOTHING, ...result }
  }
  return { recording, events, archives, tidied, tells }
}

function newArchive(name: string, events: string[]): TestArchive {
  let resolve: (end: LoggerEnd) => void = () => {}
  const ended = new Promise<LoggerEnd>((done) => {
    resolve = done
  })
  return {
    name,
    ended,
    stop: (reason) => {
      events.push(`stop ${name}: ${reason}`)
      resolve({ status: 0, reason })
      return ended
    },
    fail: (reason) => resolve({ status: 1, reason }),
  }
}

test('one archive per day, started at local midnight', async () => {
  const clock = new TestClock(2026, 10, 20, 22, 30)
  const { recording, events } = run(clock)
  expect(await recording.start()).toBe('archive1')
  await clock.pass(49 * HOUR_MS)
  await recording.close()
  expect(events).toEqual([
    'begin archive1 22:30',
    'stop archive1: Another day, exiting',
    'begin archive2 00:00',
    'stop archive2: Another day, exiting',
    'begin archive3 00:00',
    'stop archive3: End of pcp-ts start, exiting',
  ])
})

test('a machine that slept over midnight starts its archive within a minute', async () => {
  const clock = new TestClock(2026, 10, 20, 22, 30)
  const { recording, events } = run(clock)
  await recording.start()
  await clock.pass(1000)
  clock.set(2026, 10, 21, 9, 0)
  await clock.pass(60_000)
  expect(events.slice(1)).toEqual(['stop archive1: Another day, exiting', 'begin archive2 09:00'])
  await recording.close()
})

test('a failed start is reported once, retried, and reported when it works', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events } = run(clock, ['No space', 'No space', 'Read-only', undefined])
  expect(await recording.start()).toBeUndefined()
  await clock.pass(60_000)
  expect(events).toEqual([
    'print not recording: No space; retrying',
    'print not recording: Read-only; retrying',
    'begin archive1 10:00',
    'print recording again: archive1',
  ])
  await recording.close()
})

test('a failed archive is followed by another after a delay', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events, archives } = run(clock)
  await recording.start()
  await clock.pass(1000)
  archives[0]!.fail('The archive cannot be written, exiting')
  await clock.pass(5000)
  expect(archives).toHaveLength(1)
  await clock.pass(5001)
  expect(events.slice(1)).toEqual([
    'print not recording: The archive cannot be written; retrying',
    'begin archive2 10:00',
    'print recording again: archive2',
  ])
  await recording.close()
})

test('old archives are tidied at the start and every hour; problems are reported once', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events, tidied, tells } = run(clock)
  tells({ problems: ['Cannot compress x: No space left on device'] })
  await recording.start()
  await clock.pass(2.5 * HOUR_MS)
  expect(tidied).toEqual(['archive1', 'archive1', 'archive1'])
  expect(events.slice(1)).toEqual(['print Cannot compress x: No space left on device'])
  await recording.close()
})

test('a message of several lines is printed as one', async () => {
  const { recording, events } = run(new TestClock(2026, 10, 20, 10, 0), [
    'Error in (f)\n[line 4] wrong word\nlog nosuch\n    ^',
  ])
  await recording.start()
  expect(events).toEqual(['print not recording: Error in (f) [line 4] wrong word log nosuch; retrying'])
  await recording.close()
})

test('closing while nothing can be recorded prints nothing more', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events } = run(clock, Array(99).fill('No space'))
  await recording.start()
  await recording.close()
  await recording.close()
  expect(events).toEqual(['print not recording: No space; retrying'])
})
