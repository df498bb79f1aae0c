/** Days pass as the test says. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type { Clock } from '../../src/pmapi/clock.ts'
import type { LoggerEnd } from '../../src/pmlogger/settings.ts'
import { type BegunArchive, Recording } from '../../src/start/recording.ts'
import type { Tidied } from '../../src/start/retention.ts'

const HOUR_MS = 3_600_000
const NOTHING: Tidied = { compressed: [], removed: [], problems: [] }

/** A clock that stands still until it is told to go on; whoever sleeps wakes in order. */
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

  /** Lets so much time pass. */
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

  /** Sets it, as people do; sleepers sleep as long as they would have. */
  set(...date: [number, number, number, number, number]): void {
    const before = this.#now
    this.#now = new Date(...date).getTime()
    for (const sleeper of this.#sleepers) sleeper.until += this.#now - before
  }
}

/** Everything that needs no time has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface TestArchive extends BegunArchive {
  /** Ends by itself. */
  fail(reason: string): void
}

function run(clock: TestClock, problems: (string | undefined)[] = []) {
  const events: string[] = []
  const archives: TestArchive[] = []
  const tidied: (string | undefined)[] = []
  let next: Tidied = NOTHING
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
    say: (line) => events.push(`say ${line}`),
    note: () => {},
  })
  const tells = (result: Partial<Tidied>): void => {
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

test('an archive a day, begun at midnight of the local calendar', async () => {
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
    'stop archive3: End of npm start, exiting',
  ])
})

test('a machine that slept over midnight begins its archive within a minute', async () => {
  const clock = new TestClock(2026, 10, 20, 22, 30)
  const { recording, events } = run(clock)
  await recording.start()
  await clock.pass(1000)
  clock.set(2026, 10, 21, 9, 0)
  await clock.pass(60_000)
  expect(events.slice(1)).toEqual(['stop archive1: Another day, exiting', 'begin archive2 09:00'])
  await recording.close()
})

test('what cannot be begun is told once, tried again, and told when it works', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events } = run(clock, ['No space', 'No space', 'Read-only', undefined])
  expect(await recording.start()).toBeUndefined()
  await clock.pass(60_000)
  expect(events).toEqual([
    'say not recording: No space; this is tried again',
    'say not recording: Read-only; this is tried again',
    'begin archive1 10:00',
    'say recording again: archive1',
  ])
  await recording.close()
})

test('an archive that fails is followed by another, not at once', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events, archives } = run(clock)
  await recording.start()
  await clock.pass(1000)
  archives[0]!.fail('The archive cannot be written, exiting')
  await clock.pass(5000)
  expect(archives).toHaveLength(1)
  await clock.pass(5001)
  expect(events.slice(1)).toEqual([
    'say not recording: The archive cannot be written; this is tried again',
    'begin archive2 10:00',
    'say recording again: archive2',
  ])
  await recording.close()
})

test('old archives are looked at in the beginning and every hour; problems are told once', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events, tidied, tells } = run(clock)
  tells({ problems: ['Cannot compress x: No space left on device'] })
  await recording.start()
  await clock.pass(2.5 * HOUR_MS)
  expect(tidied).toEqual(['archive1', 'archive1', 'archive1'])
  expect(events.slice(1)).toEqual(['say Cannot compress x: No space left on device'])
  await recording.close()
})

test('a message of several lines is told in one', async () => {
  const { recording, events } = run(new TestClock(2026, 10, 20, 10, 0), [
    'Error in (f)\n[line 4] wrong word\nlog nosuch\n    ^',
  ])
  await recording.start()
  expect(events).toEqual([
    'say not recording: Error in (f) [line 4] wrong word log nosuch; this is tried again',
  ])
  await recording.close()
})

test('closing while nothing can be recorded says no more', async () => {
  const clock = new TestClock(2026, 10, 20, 10, 0)
  const { recording, events } = run(clock, Array(99).fill('No space'))
  await recording.start()
  await recording.close()
  await recording.close()
  expect(events).toEqual(['say not recording: No space; this is tried again'])
})
