/**
 * Remote Write into Debian's Prometheus and VictoriaMetrics on loopback: queries return the values of the archives, also
 * when they are killed meanwhile. Mimir and Thanos are not tested: they read the same requests, whose format test/remote-write checks.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listening } from '../../bench/macro/lib/fleet/processes.ts'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { createArchive } from '../../src/archive.ts'
import { indom, PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { tool } from '../../src/tools/pcp2remotewrite/index.ts'
import { programOf } from '../lib/commands.ts'
import { testIo } from '../tools/run-tool.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

/** A program that stores series. */
interface StoreProgram {
  readonly program: string
  readonly args: (dir: string, port: number) => readonly string[]
  /** Printed when it serves requests. */
  readonly ready: string
  readonly path: string
  /** Significant digits that it keeps. */
  readonly digits: number
  /** Returns values by time in milliseconds, by metric and instance. */
  readonly query: (port: number, metric: string, endSec: number) => Promise<Values>
}

type Values = Record<string, Record<number, number>>

const PROMETHEUS: StoreProgram = {
  program: '/usr/bin/prometheus',
  args: (dir, port) => [
    '--web.enable-remote-write-receiver',
    `--config.file=${dir}/prometheus.yml`,
    `--storage.tsdb.path=${dir}/prometheus`,
    '--storage.tsdb.retention.time=100y',
    `--web.listen-address=127.0.0.1:${port}`,
  ],
  ready: 'Server is ready to receive web requests',
  path: '/api/v1/write',
  digits: 17,
  async query(port, metric, endSec) {
    const query = new URLSearchParams({ query: `${metric}[10000h]`, time: String(endSec) })
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/query?${query}`)
    const { data } = (await reply.json()) as {
      data: { result: { metric: Record<string, string>; values: [number, string][] }[] }
    }
    return Object.fromEntries(
      data.result.map(({ metric: labels, values }) => [
        `${labels['__name__']} ${labels['instname'] ?? ''}`,
        Object.fromEntries(values.map(([sec, value]) => [Math.round(1000 * sec), Number(value)])),
      ]),
    )
  },
}

const VICTORIA: StoreProgram = {
  program: '/usr/bin/victoria-metrics',
  args: (dir, port) => [
    `-storageDataPath=${dir}/victoria`,
    `-httpListenAddr=127.0.0.1:${port}`,
    '-retentionPeriod=100y',
  ],
  ready: 'started VictoriaMetrics',
  path: '/api/v1/write',
  digits: 10,
  async query(port, metric) {
    await (await fetch(`http://127.0.0.1:${port}/internal/force_flush`)).text()
    const query = new URLSearchParams({ 'match[]': metric })
    const text = await (await fetch(`http://127.0.0.1:${port}/api/v1/export?${query}`)).text()
    const found: Values = {}
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const {
        metric: labels,
        values,
        timestamps,
      } = JSON.parse(line) as {
        metric: Record<string, string>
        values: (number | null)[]
        timestamps: number[]
      }
      const key = `${labels['__name__']} ${labels['instname'] ?? ''}`
      const of = found[key] ?? {}
      found[key] = of
      // Staleness markers are exported as null.
      for (const [i, value] of values.entries()) if (value !== null) of[timestamps[i]!] = value
    }
    return found
  },
}

const STORES = [PROMETHEUS, VICTORIA].filter(({ program }) => {
  const is = existsSync(program)
  if (!is) console.log(`skipped: ${program} is not installed`)
  return is
})

let dir = ''
const children = new Set<ChildProcess>()
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-remote-write-'))
  mkdirSync(join(dir, 'archives'))
  writeFileSync(join(dir, 'prometheus.yml'), '')
})
afterEach(async () => {
  await Promise.all([...children].map((child) => stop(child)))
  rmSync(dir, { recursive: true, force: true })
})

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  children.delete(child)
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** Starts a store; resolves when it has printed `ready` and listens. VictoriaMetrics listens last. */
async function start({ program, args, ready }: StoreProgram, port: number): Promise<ChildProcess> {
  const child = spawn(program, args(dir, port), { stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.includes(ready)) resolve()
      })
    child.on('exit', () => reject(new Error(`${program} ended: ${output}`)))
  })
  await listening(child, port)
  return child
}

/** Reads the values of an archive by metric and instance, with another reader than the sender's. */
function valuesOf(base: string): Values {
  const archive = Archive.open(base, archiveFiles())
  const { metadata } = archive
  const reader = new RecordReader(archive)
  const found: Values = {}
  for (let record = reader.next(); record !== undefined; record = reader.next())
    for (let s = 0; s < record.count; s++) {
      const desc = metadata.descs.get(record.pmids[s]!)!
      if (desc.type > PM_TYPE_DOUBLE) continue
      const set = record.toSet(s)
      for (const name of metadata.names.namesOf(desc.pmid))
        for (let i = 0; i < set.status; i++) {
          const id = set.inst[i]!
          const of = { sec: record.sec, nsec: record.nsec }
          const instance =
            desc.indom === PM_INDOM_NULL ? '' : metadata.instances(desc.indom, { id }, of).names[0]!
          const key = `${name.replaceAll('.', '_')} ${instance}`
          const values = found[key] ?? {}
          found[key] = values
          values[1000 * record.sec + Math.floor(record.nsec / 1e6)] ??= Number(extract(set, i, desc.type))
        }
    }
  archive.close()
  return found
}

/** Resolves after some changes in a directory. */
async function changesOf(directory: string, count: number): Promise<void> {
  const watcher = watch(directory)
  for (let i = 0; i < count; i++) await once(watcher, 'change')
  watcher.close()
}

/** Sorts series, and rounds values to what a store keeps. */
function sorted(values: Values, { digits }: StoreProgram): Values {
  const series = Object.entries(values).map(([key, points]): [string, Record<number, number>] => {
    const rounded = Object.entries(points).map(([time, value]) => [time, Number(value.toPrecision(digits))])
    return [key, Object.fromEntries(rounded) as Record<number, number>]
  })
  return Object.fromEntries(series.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function writeArchive(base: string, startSec: number, records: number): void {
  const made = createArchive(base, { hostname: 'h1' })
  made.addMetric('demo.count', {
    pmid: pmid(77, 0, 1),
    type: PM_TYPE_U64,
    sem: PM_SEM_COUNTER,
    indom: indom(77, 1),
  })
  made.addMetric('demo.gauge', { pmid: pmid(77, 0, 2), type: PM_TYPE_DOUBLE })
  for (let i = 0; i < records; i++) {
    made.put('demo.gauge', i / 3)
    for (const id of i % 10 === 9 ? [1] : [1, 2]) made.put('demo.count', BigInt(1000 * i * id), `i${id}`)
    if (i === records >> 1) made.mark()
    made.write({ sec: startSec + 10 * i, nsec: 500_000_000 })
  }
  made.close()
}

test.each(STORES)('$program has the values of an archive', async (store) => {
  const port = await freePort()
  await start(store, port)
  const startSec = 1_700_000_000
  const base = join(dir, 'archives', 'a')
  writeArchive(base, startSec, 300)
  const io = testIo('pcp2remotewrite', ['-a', base, '-u', `http://127.0.0.1:${port}${store.path}`])
  expect({ status: await tool.run(io), ...io.printed }).toMatchObject({ status: 0 })
  for (const metric of ['demo_count', 'demo_gauge']) {
    const wanted = Object.entries(valuesOf(base)).filter(([key]) => key.startsWith(`${metric} `))
    const found = await store.query(port, metric, startSec + 10_000)
    expect(sorted(found, store)).toEqual(sorted(Object.fromEntries(wanted), store))
  }
})

test.runIf(hasSuite).each(STORES)('$program has the values of a recorded archive', async (store) => {
  const port = await freePort()
  await start(store, port)
  const base = join(suiteFolder('archives'), '20130706')
  const io = testIo('pcp2remotewrite', ['-a', base, '-u', `http://127.0.0.1:${port}${store.path}`])
  const status = await tool.run(io)
  expect({ status, ...io.printed }).toMatchObject({ status: 0 })
  const all = valuesOf(base)
  let compared = 0
  for (const metric of ['kernel_all_load', 'disk_dev_read', 'mem_util_free']) {
    const wanted = Object.entries(all).filter(([key]) => key.startsWith(`${metric} `))
    for (const [, values] of wanted) compared += Object.keys(values).length
    const found = await store.query(port, metric, 1_373_200_000)
    expect(sorted(found, store)).toEqual(sorted(Object.fromEntries(wanted), store))
  }
  expect(compared).toBeGreaterThan(0)
  console.log(`${store.program}: ${compared} values equal; ${io.printed.stdout.trim()}`)
})

test.each(STORES)('$program has everything after it was killed and restarted', async (store) => {
  const port = await freePort()
  const startSec = 1_700_000_000
  const base = join(dir, 'archives', 'a')
  writeArchive(base, startSec, 2000)
  let server = await start(store, port)
  mkdirSync(join(dir, 'state'))
  const [program, ...words] = programOf('pcp2remotewrite')
  const url = `http://127.0.0.1:${port}${store.path}`
  const args = ['-a', base, '--state', join(dir, 'state'), '-u', url, '--batch', '200', '--shards', '1']
  const sender = spawn(process.execPath, [program!, ...words, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(sender)
  const ended = once(sender, 'exit')
  let output = ''
  // Killed as soon as the sender has made progress; its complaint then starts the server again.
  const restarted = new Promise<void>((resolve) => {
    sender.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (text.includes('retrying')) resolve()
    })
  })
  sender.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await Promise.race([changesOf(join(dir, 'state'), 20), ended])
  // VictoriaMetrics acknowledges samples in memory, and writes them when it is stopped.
  await stop(server, store === VICTORIA ? 'SIGTERM' : 'SIGKILL')
  await Promise.race([restarted, ended])
  server = await start(store, port)
  await ended
  children.delete(sender)
  expect(output).not.toContain('samples refused')
  expect(output).toContain('sending again')
  const found = await store.query(port, 'demo_gauge', startSec + 100_000)
  const wanted = { 'demo_gauge ': valuesOf(base)['demo_gauge ']! }
  expect(sorted(found, store)).toEqual(sorted(wanted, store))
  await stop(server)
})
