/** Parts of `npm start` that die are restarted, and the others are not affected. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandOf, partOf } from '../../bench/macro/lib/start-parts.ts'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { eventually } from '../lib/eventually.ts'

const ASK: Ask = { requester: ANONYMOUS }
const NUMFETCH = pmid(253, 0, 0)
const KILLS = 30

let dir: string
let child: ChildProcess
let text: string

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-restarts-'))
  text = ''
  const program = join(process.cwd(), 'bin', 'pcp-ts')
  const ports = ['--port', '0', '--web-port', '0']
  child = spawn(process.execPath, [program, 'start', '--dir', dir, ...ports, '--agents', 'simple,pmcd'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PCP_TS_RESTART_MS: '10' },
  })
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  await untilSaid(/Ctrl-C stops everything/g, 1)
})
afterEach(async () => {
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await ended // the parts have its output, too
  rmSync(dir, { recursive: true, force: true, maxRetries: 10 })
})

/** Waits until a text was printed some number of times. */
async function untilSaid(what: RegExp, times: number): Promise<void> {
  while ((text.match(what) ?? []).length < times) {
    if (child.exitCode !== null) throw new Error(`ended: ${text}`)
    await once(child.stdout!, 'data')
  }
}

const port = (): number => Number(/listening {2}localhost:(\d+)/.exec(text)![1])

/** Time for sixty process starts. */
const KILLS_MS = 600_000

test(`recorder and charts are killed ${KILLS} times each without affecting anything else`, {
  timeout: KILLS_MS,
}, async () => {
  const collector = partOf(child.pid!, 'collector')!
  const source = await HostSource.connect(`localhost:${port()}`)
  let isOver = false
  let fetches = 0
  const fetching = (async () => {
    // One connection all the time; simple counts the fetches.
    for (; !isOver; fetches++) {
      const { sets } = await source.fetch([NUMFETCH], ASK)
      expect(sets[0]!.word[0]).toBe(fetches + 1)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  const killer = async (name: 'recorder' | 'charts'): Promise<Set<number>> => {
    const killed = new Set<number>()
    for (let i = 1; i <= KILLS; i++) {
      const pid = partOf(child.pid!, name)!
      killed.add(pid)
      process.kill(pid, 'SIGKILL')
      await untilSaid(new RegExp(`^${name}: was killed by SIGKILL; restarting`, 'gm'), i)
      await untilSaid(new RegExp(`^${name}: running again`, 'gm'), i)
    }
    return killed
  }
  const [recorders, charts] = await Promise.all([killer('recorder'), killer('charts')])
  expect([recorders.size, charts.size]).toEqual([KILLS, KILLS])
  isOver = true
  await fetching
  await source.close()
  expect(fetches).toBeGreaterThan(KILLS)
  expect(partOf(child.pid!, 'collector')).toBe(collector)
  expect(text).not.toContain('collector:')
  // The last process of each part works.
  const page = await fetch(
    `http://localhost:${/charts +http:\/\/localhost:(\d+)/.exec(text)![1]}/pmapi/context`,
  )
  expect(page.status).toBe(200)
  const archives = join(dir, 'archives')
  const [host] = readdirSync(archives, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = readdirSync(join(archives, host!.name)).filter((name) => name.endsWith('.meta'))
  expect(names.length).toBeGreaterThan(0)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

test('a killed collector is restarted on its port, and the others reconnect', async () => {
  const before = port()
  const others = (['recorder', 'charts'] as const).map((name) => partOf(child.pid!, name))
  for (let i = 1; i <= 3; i++) {
    process.kill(partOf(child.pid!, 'collector')!, 'SIGKILL')
    await untilSaid(/^collector: running again/gm, i)
    const source = await HostSource.connect(`localhost:${before}`)
    expect((await source.fetch([NUMFETCH], ASK)).sets[0]!.word[0]).toBe(1)
    await source.close()
  }
  expect((['recorder', 'charts'] as const).map((name) => partOf(child.pid!, name))).toEqual(others)
})

test('a killed evaluation of alerts is restarted, and evaluates again', async () => {
  const log = join(dir, 'log', 'pmie', 'alerts.jsonl')
  for (let i = 1; i <= 3; i++) {
    // Each evaluation sets the time of the log.
    await eventually(() => expect(statSync(log).mtimeMs).toBeGreaterThan(0))
    utimesSync(log, 0, 0)
    process.kill(partOf(child.pid!, 'alerts')!, 'SIGKILL')
    await untilSaid(/^alerts: was killed by SIGKILL; restarting/gm, i)
    await untilSaid(/^alerts: running again/gm, i)
  }
  await eventually(() => expect(statSync(log).mtimeMs).toBeGreaterThan(0))
})

test('a part that receives SIGTERM ends in order and is restarted', async () => {
  process.kill(partOf(child.pid!, 'charts')!, 'SIGTERM')
  await untilSaid(/^charts: ended with status 0; restarting/gm, 1)
  await untilSaid(/^charts: running again/gm, 1)
})

test('parts end by themselves when their supervisor is killed', async () => {
  const parts = (['collector', 'recorder', 'charts', 'alerts'] as const).map(
    (name) => partOf(child.pid!, name)!,
  )
  child.kill('SIGKILL')
  await once(child, 'close') // they had its output
  for (const pid of parts) expect(commandOf(pid)).toBe('') // gone, or a zombie
})
