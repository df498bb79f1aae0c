/**
 * Attack: as many connections as the server may have open files. Class: a daemon opens files where a client can take the
 * last file descriptor. Prevented by src/sys/descriptor-reserve.ts (connections are closed before the reserve), and by
 * timers that survive without one (src/base/every.ts).
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { partOf } from '../../bench/macro/lib/start-parts.ts'
import { statusOf } from '../../src/model/errors.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { decodeChallenge } from '../../src/wire/error.ts'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'
import { eventually } from '../lib/eventually.ts'
import { fetchHonestly } from '../lib/honest-client.ts'

const FILES = 256
const ASK = { requester: ANONYMOUS }

let dir: string
let collector: CollectorProcess | undefined
const sockets: Socket[] = []

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'descriptors-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await collector?.stop()
  collector = undefined
})

/** Resolves to the status of a connection's challenge, or 'closed' without one. */
function arrive(port: number): Promise<number | 'closed'> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', (chunk) => resolve(decodeChallenge(chunk).status))
    socket.once('close', () => resolve('closed'))
  })
}

/** Configures agents that start programs and read files from timers. */
function giveTimersWork(root: string): void {
  const pmdas = join(root, 'lib', 'pmdas')
  const sources = join(pmdas, 'openmetrics', 'config.d')
  for (const each of [sources, join(pmdas, 'proc')]) mkdirSync(each, { recursive: true })
  writeFileSync(join(sources, 'script.sh'), '#!/bin/sh\necho some_metric 1\n', { mode: 0o755 })
  writeFileSync(join(pmdas, 'proc', 'hotproc.conf'), '#pmdahotproc\n\nVersion 1.0\n\ncpuburn >= 0\n')
}

test('idle clients get all file descriptors except the reserve; the rest are refused with an error', async () => {
  collector = await startCollectorProcess('pmcd,linux,proc', FILES)
  const honest = await HostSource.connect(`127.0.0.1:${collector.port}`)
  const ids = (await honest.lookupNames(['kernel.all.load', 'proc.nprocs'], ASK)) as number[]
  const fates: (number | 'closed')[] = []
  for (let i = 0; i < FILES + 50; i++) fates.push(await arrive(collector.port))
  const connected = fates.filter((fate) => typeof fate === 'number' && fate >= 0).length
  expect(fates).toContain(statusOf('PM_ERR_CONNLIMIT'))
  expect(connected).toBeGreaterThan(FILES / 2)
  expect(connected).toBeLessThan(FILES - 32)
  // Fetches open files of processes, for which the reserve exists.
  for (let i = 0; i < 5; i++) {
    const { sets } = await honest.fetch(ids, ASK)
    expect(sets.every(({ status }) => status > 0)).toBe(true)
  }
  await honest.close()
  const log = readFileSync(join(collector.dir, 'log', 'pmcd', 'pmcd.log'), 'utf8')
  expect(log.match(/Connection refused: 32 of the 256 files/g)).toHaveLength(1)
  expect(collector.hasEnded()).toBe(false)
  for (const socket of sockets.splice(0)) socket.destroy()
  await eventually(async () =>
    expect((await fetchHonestly(collector!.port, ['pmcd.version'])).statuses).toEqual([1]),
  )
})

test.skipIf(process.platform !== 'linux')(
  'no part of npm start ends for lack of a file descriptor, whatever its timers do',
  async () => {
    const report = join(dir, 'report')
    const preload = join(import.meta.dirname, '..', 'lib', 'exhaust.mjs')
    collector = await startCollectorProcess('all', FILES, {
      records: true,
      prepare: giveTimersWork,
      env: {
        PCP_TS_EXHAUST: report,
        NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${preload}`,
      },
    })
    const honest = await HostSource.connect(`127.0.0.1:${collector.port}`)
    const names = await honest.traverse('', ASK)
    const ids = (await honest.lookupNames(names, ASK)).filter((id) => typeof id === 'number')
    expect(ids.length).toBeGreaterThan(1000)
    const part = (name: 'collector' | 'recorder' | 'charts'): number => {
      const pid = partOf(collector!.supervisor, name)
      if (pid === undefined) throw new Error(`There is no ${name}`)
      return pid
    }
    const pids = await eventually(() => [part('collector'), part('recorder'), part('charts')])
    const linesOf = (pid: number): string[] => readFileSync(`${report}.${pid}`, 'utf8').trim().split('\n')
    const all = [collector.supervisor, ...pids]
    await eventually(() => expect(readdirSync(dir).length).toBeGreaterThanOrEqual(all.length))
    for (let round = 1; round <= 3; round++) {
      for (const pid of all) process.kill(pid, 'SIGWINCH')
      await eventually(() => {
        for (const pid of all) expect(linesOf(pid).length).toBe(2 * round)
      })
      // Every agent gets requests while no file can be opened; errors are valid replies.
      const { sets } = await honest.fetch(ids, ASK)
      expect(sets).toHaveLength(ids.length)
      for (const pid of all) process.kill(pid, 'SIGWINCH')
      await eventually(() => {
        for (const pid of all) expect(linesOf(pid).length).toBe(2 * round + 1)
      })
    }
    await honest.close()
    console.log(all.map((pid) => linesOf(pid).slice(1, 2)).join(', '))
    expect([part('collector'), part('recorder'), part('charts')]).toEqual(pids)
    expect((await fetchHonestly(collector.port, ['kernel.all.load'])).statuses).toEqual([3])
  },
)
