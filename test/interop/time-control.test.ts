/** pmval, pmstat and pcp's commands, ours and the reference's, follow one of our time controls. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createArchive } from '../../src/archive.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_U32 } from '../../src/model/types.ts'
import type { ClockAction } from '../../src/pmproxy/time/clock.ts'
import { startTimeControl, type TimeControlServer } from '../../src/pmproxy/time/server.ts'
import { TIME_ARCHIVE } from '../../src/wire/time-control.ts'
import { hasReference, plainEnv, top } from './lib/programs.ts'

const bin = (name: string): string => join(top, 'bin', name)
const START = 1_700_000_000
const PATIENCE = { timeout: 30_000 }

/** A running command with its output so far. */
interface Running {
  readonly child: ChildProcess
  text: string
  readonly ended: Promise<number | null>
}

describe.runIf(hasReference)('programs that follow a time control', () => {
  let dir: string
  let archive: string
  let control: TimeControlServer
  let followers = 0
  const running: Running[] = []

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'pcp-ts-time-'))
    archive = join(dir, 'made')
    const made = createArchive(archive, { hostname: 'elsewhere', timezone: 'UTC' })
    made.addMetric('kernel.all.load', {
      type: PM_TYPE_U32,
      sem: PM_SEM_INSTANT,
      indom: 'loads',
    })
    made.addMetric('made.count', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: 'count' })
    for (let i = 0; i <= 60; i++) {
      made.put('kernel.all.load', i, '1 minute')
      made.put('made.count', i * i)
      made.write({ sec: START + i, nsec: 0 })
    }
    made.close()
  })
  afterAll(() => rmSync(dir, { recursive: true }))
  beforeEach(async () => {
    control = (await startTimeControl(0))!
    control.listen((clock, count) => {
      if (clock.source === TIME_ARCHIVE) followers = count
    })
  })
  afterEach(async () => {
    for (const { child } of running.splice(0)) child.kill()
    await control.close()
  })

  const start = (command: string, ...args: string[]): Running =>
    startWith(['-p', String(control.port)], {}, command, ...args)
  const startWith = (
    how: readonly string[],
    env: Readonly<Record<string, string>>,
    command: string,
    ...args: string[]
  ): Running => {
    const options = [...how, '-a', archive, '-Z', 'UTC', '-t', '1', ...args]
    const child = spawn(command, options, { env: plainEnv(env), stdio: ['ignore', 'pipe', 'pipe'] })
    const one: Running = { child, text: '', ended: new Promise((resolve) => child.once('exit', resolve)) }
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => {
        one.text += chunk
      })
    running.push(one)
    return one
  }
  const act = (action: ClockAction): void => control.act(TIME_ARCHIVE, action)
  const both = async (what: RegExp, count: number): Promise<void> => {
    for (const one of running)
      await expect.poll(() => one.text.match(what)?.length ?? 0, PATIENCE).toBeGreaterThanOrEqual(count)
  }

  test('pmval: steps, a pause with another interval, going back, another place, another zone', async () => {
    const theirs = start('pmval', 'made.count')
    const ours = start(bin('pmval'), 'made.count')
    await both(/samples: {3}all/g, 1)
    await expect.poll(() => followers, PATIENCE).toBe(2)
    const row = /^\d\d:\d\d:\d\d\.\d{3} /gm
    // Repeats the first steps until both programs are ready, which the control does not report.
    await expect
      .poll(
        () => {
          act({ do: 'step', direction: 1 })
          return running.every(({ text }) => (text.match(row)?.length ?? 0) > 0)
        },
        { ...PATIENCE, interval: 300 },
      )
      .toBe(true)
    const rows = Math.max(...running.map(({ text }) => text.match(row)!.length))
    act({ do: 'stop' })
    act({ do: 'interval', seconds: 2 })
    act({ do: 'seek', position: START + 30 })
    act({ do: 'step', direction: 1 })
    await both(/new interval: {2}2\.00 sec/g, 1)
    await both(/^22:13:52\.\d+ /gm, 1)
    act({ do: 'step', direction: 1 })
    await both(/^22:13:54\.\d+ +\d/gm, 1)
    act({ do: 'step', direction: -1 })
    await both(/Rewind/g, 1)
    act({ do: 'zone', name: 'UTC-3', label: 'Somewhere' })
    await both(/new timezone/g, 1)
    expect(rows).toBeGreaterThan(0)
    const tail = ({ text }: Running): string => text.slice(text.indexOf('new interval:'))
    console.log(`pmval below a time control: ${tail(ours).split('\n').length} lines behind the first pause`)
    expect(tail(ours)).toBe(tail(theirs))
  })

  test('pmstat follows, and exits with status 1 when the control disconnects', async () => {
    const ours = start(bin('pmstat'))
    await expect.poll(() => followers, PATIENCE).toBe(1)
    await expect
      .poll(
        () => {
          act({ do: 'step', direction: 1 })
          return (ours.text.match(/\n +\d/g)?.length ?? 0) > 1
        },
        { ...PATIENCE, interval: 200 },
      )
      .toBe(true)
    await control.close()
    expect(await ours.ended).toBe(1)
    expect(ours.text).toMatch(/\npmstat: Time Control dialog exited, goodbye\.\n$/)
  })

  test('pcp passes the control of -p and -g on to its commands', async () => {
    const port = String(control.port)
    startWith(['-p', port], {}, 'pcp', 'vmstat')
    startWith(['-p', port], {}, bin('pcp'), 'vmstat')
    startWith(['-g'], { PMTIME_PORT: port }, bin('pcp'), 'vmstat')
    await expect.poll(() => followers, PATIENCE).toBe(3)
    act({ do: 'stop' })
    act({ do: 'seek', position: START + 30 })
    await expect
      .poll(
        () => {
          act({ do: 'step', direction: 1 })
          return running.every(({ text }) => /^ +40\b/m.test(text))
        },
        { ...PATIENCE, interval: 100 },
      )
      .toBe(true)
    // Each starts at a different step; from there on all print the same.
    const tails = running.map(({ text }) => text.slice(text.search(/^ +40\b/m)).split('\n')[0])
    expect(tails).toEqual(Array(3).fill(tails[0]))
  })

  test('without a control there is one clear line', async () => {
    const port = control.port
    await control.close()
    const ours = start(bin('pmval'), 'made.count')
    expect(await ours.ended).toBe(1)
    expect(ours.text).toMatch(
      new RegExp(`pmval: No time control at port ${port} of this machine: .*npm start`),
    )
  })
})
