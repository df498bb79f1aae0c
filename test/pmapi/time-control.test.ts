/** A program follows the time control of the page: over an archive and live. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createArchive, openArchive } from '../../src/archive.ts'
import { toSeconds } from '../../src/base/timestamp.ts'
import type { ArchiveContext } from '../../src/pmapi/archive.ts'
import { followTime, type TimeEvent } from '../../src/pmapi/time-control.ts'
import type { ClockAction } from '../../src/pmproxy/time/clock.ts'
import { startTimeControl, type TimeControlServer } from '../../src/pmproxy/time/server.ts'
import { TIME_ARCHIVE } from '../../src/wire/time-control.ts'

let dir: string
let control: TimeControlServer
let day: ArchiveContext

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-follow-'))
  const made = createArchive(join(dir, 'day'))
  const level = made.addMetric('made.level')
  for (let i = 0; i <= 60; i++) {
    made.put(level, i)
    made.write({ sec: 1000 + i, nsec: 0 })
  }
  made.close()
  day = await openArchive(join(dir, 'day'), { env: { PCP_DERIVED_CONFIG: '' } })
  control = (await startTimeControl(0))!
})
afterEach(async () => {
  await control.close()
  await day.close()
  rmSync(dir, { recursive: true })
})

const act = (action: ClockAction): void => control.act(TIME_ARCHIVE, action)

test('steps with values at their times, other position and interval, backwards, a time zone, the end of the control', async () => {
  const seen: string[] = []
  // Each may be repeated, because a step is lost while the program is not ready for it.
  const script: readonly (readonly ClockAction[])[] = [
    [
      { do: 'seek', position: 1000 },
      { do: 'step', direction: 1 },
    ],
    [{ do: 'seek', position: 1030 }],
    [{ do: 'interval', seconds: 5 }],
    [
      { do: 'seek', position: 1030 },
      { do: 'step', direction: 1 },
    ],
    [
      { do: 'seek', position: 1035 },
      { do: 'step', direction: -1 },
    ],
    [{ do: 'zone', name: 'UTC-3', label: 'Somewhere' }],
  ]
  const textOf = async (event: TimeEvent): Promise<string> => {
    if (event.type === 'zone') return `zone ${event.name} ${event.label}`
    if (event.type === 'drag' || event.type === 'bound') return event.type
    const place = `${event.type} ${toSeconds(event.position)} every ${event.interval}`
    if (event.type !== 'step') return place
    return `${place} ${event.direction} ${(await day.values(['made.level'])).value('made.level')}`
  }
  const follower = await followTime(day, { port: control.port, interval: 2 })
  let next = 0
  const proceed = (): void => {
    if (next < script.length) script[next]!.forEach(act)
    else void control.close()
  }
  const timer = setInterval(proceed, 20)
  const expected = ['step 1002', 'stop 1030 every 2', 'stop 1030 every 5', 'step 1035', 'step 1030', 'zone']
  for await (const event of follower) {
    const text = await textOf(event)
    if (next < script.length && text.startsWith(expected[next]!)) {
      seen.push(text)
      next++
    }
  }
  clearInterval(timer)
  expect(seen).toEqual([
    'step 1002 every 2 forward 2',
    'stop 1030 every 2',
    'stop 1030 every 5',
    'step 1035 every 5 forward 35',
    'step 1030 every 5 backward 30',
    'zone UTC-3 Somewhere',
  ])
})

test('a signal ends it; without a time control the error has a remedy', async () => {
  const abort = new AbortController()
  const follower = await followTime(day, { port: control.port, signal: abort.signal })
  const events = follower[Symbol.asyncIterator]()
  const waiting = events.next()
  abort.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'ECANCELED' })
  await expect(followTime(day, { port: control.port, signal: abort.signal })).rejects.toMatchObject({
    code: 'ECANCELED',
  })
  await expect(followTime(day, { port: 70_000 })).rejects.toMatchObject({ code: 'PM_ERR_ARG' })
  const free = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => free.once('listening', resolve))
  const { port } = free.address() as { port: number }
  await new Promise((resolve) => free.close(resolve))
  await expect(followTime(day, { port })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
