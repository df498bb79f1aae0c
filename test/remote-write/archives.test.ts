/** Archives as queues: the samples sent, and where a sender continues. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { type CreateOptions, createArchive } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import type { QueueOptions } from '../../src/remote-write/archive-queue.ts'
import { ArchiveTree } from '../../src/remote-write/archive-tree.ts'
import { PostClient } from '../../src/remote-write/http.ts'
import { openPositions, type Positions, volatilePositions } from '../../src/remote-write/positions.ts'
import { Sender } from '../../src/remote-write/sender.ts'
import { Shipper } from '../../src/remote-write/shipper.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { Receiver } from './receiver.ts'

const STALE = '7ff0000000000002'
const START = 1_700_000_000
const DISKS = indom(77, 1)

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-remote-write-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Creates an archive with a counter of disks, a gauge and a text. */
function create(name: string, options: CreateOptions = {}): ArchiveImport {
  const made = createArchive(join(dir, name), { hostname: 'host', ...options })
  const [type, sem] = [PM_TYPE_U64, PM_SEM_COUNTER]
  made.addMetric('demo.disk.reads', { pmid: pmid(77, 0, 1), type, sem, units: 'count', indom: DISKS })
  made.addMetric('demo.load', { pmid: pmid(77, 0, 2), type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT })
  made.addMetric('demo.text', { pmid: pmid(77, 0, 3), type: PM_TYPE_STRING, sem: PM_SEM_INSTANT })
  made.addInstance(DISKS, 'sda', 1)
  made.addInstance(DISKS, 'sdb', 2)
  made.addText('demo.disk.reads', 'oneline', 'Reads of a disk')
  made.addLabels({ site: 'north', rank: 3 })
  return made
}

interface ShipOptions extends Partial<QueueOptions> {
  readonly positions?: Positions
  readonly samples?: number
  readonly mostSeries?: number
  readonly shards?: number
  readonly signal?: AbortSignal
  /** Follows the directory; called when there is nothing to send. Returns false to end. */
  readonly onIdle?: () => boolean
}

/** Sends the archives below the directory. */
async function ship(
  receiver: Receiver,
  options: ShipOptions = {},
): Promise<{ readonly lines: string[]; readonly sender: Sender }> {
  const {
    positions = volatilePositions(),
    samples = 1000,
    mostSeries = 1e6,
    shards = 1,
    onIdle,
    signal,
    ...rest
  } = options
  const lines: string[] = []
  const report = (line: string): void =>
    void lines.push(line.replaceAll(dir, 'DIR').replace(receiver.url.href, 'URL'))
  const client = new PostClient(receiver.url)
  const sender = new Sender(client, {
    protocol: 'auto',
    headers: () => ({}),
    timeoutMs: 60_000,
    delaysMs: [1],
    wait: async () => {},
    now: Date.now,
    report,
  })
  const ending = new AbortController()
  const unsent = { unreadable: 0, late: 0 }
  const queue = { files: archiveFiles(), isWanted: () => true, labels: new Map(), unsent, report, ...rest }
  const shipper = new Shipper({
    tree: new ArchiveTree({ archives: [], directories: [dir] }, queue, positions),
    positions,
    sender,
    limits: { samples, bytes: 1 << 20 },
    shards,
    pollMs: onIdle === undefined ? undefined : 1,
    scanMs: 0,
    mostSeries,
    wait: async (_, signals) => {
      if (onIdle?.() === false) ending.abort()
      // Replies to the requests of other shards arrive between two turns.
      await new Promise((resolve) => setImmediate(resolve))
      signals.throwIfAborted()
    },
  })
  try {
    await shipper.run(signal ?? ending.signal)
  } catch (error) {
    if (!ending.signal.aborted) throw error
  } finally {
    client.close()
  }
  return { lines, sender }
}

const at = (second: number): { sec: number; nsec: number } => ({ sec: START + second, nsec: 250_000_000 })
const ms = (second: number): number => 1000 * (START + second) + 250

/** Returns the samples of a series, with times in seconds after the start. */
function seriesOf(receiver: Receiver, key: string): Record<string, string> {
  const points = [...(receiver.values.get(key) ?? [])]
  return Object.fromEntries(points.map(([time, value]) => [(time - ms(0)) / 1000, value]))
}

const disk = (inst: number, name: string, more = ''): string =>
  `demo_disk_reads{hostname=host,instid=${inst},instname=${name}${more},rank=3,site=north}`
const LOAD = 'demo_load{hostname=host,rank=3,site=north}'

test('instances whose names differ only behind the first blank have their own series', async () => {
  const made = create('a', { sharesFirstWords: true })
  for (const [i, name] of ['my disk', 'my other'].entries()) {
    made.addInstance(DISKS, name, 7 + i)
    made.put('demo.disk.reads', 10 * (i + 1), name)
  }
  made.write(at(0))
  made.close()
  await using receiver = await Receiver.start()
  await ship(receiver)
  expect([disk(7, 'my disk'), disk(8, 'my other')].map((key) => seriesOf(receiver, key)[0])).toEqual([
    '10',
    '20',
  ])
})

test('names, labels, metadata and staleness', async () => {
  const made = create('a')
  const put = (second: number, reads: Readonly<Record<string, number>>, load?: number): void => {
    for (const [name, value] of Object.entries(reads)) made.put('demo.disk.reads', BigInt(value), name)
    if (load !== undefined) made.put('demo.load', load)
    made.put('demo.text', 'text')
    made.write(at(second))
  }
  put(0, { sda: 1, sdb: 2 }, 0.5)
  put(1, { sda: 3 }, Number.NaN)
  put(2, { sda: 4, sdb: 5 })
  made.mark()
  put(10, { sdb: 2 ** 60 })
  made.close()
  await using receiver = await Receiver.start()
  const { lines } = await ship(receiver)
  expect(lines).toEqual([])
  expect([...receiver.values.keys()].sort()).toEqual([disk(1, 'sda'), disk(2, 'sdb'), LOAD])
  expect(seriesOf(receiver, disk(1, 'sda'))).toEqual({ '0': '1', '1': '3', '2': '4', '2.001': STALE })
  expect(seriesOf(receiver, disk(2, 'sdb'))).toEqual({
    '0': '2',
    '1': STALE,
    '2': '5',
    '2.001': STALE,
    '10': String(2 ** 60),
  })
  expect(seriesOf(receiver, LOAD)).toEqual({
    '0': '0.5',
    '1': '7ff8000000000001',
    '2.001': STALE,
  })
  const reads = receiver.requests[0]!.series.find(({ labels }) => labels['__name__'] === 'demo_disk_reads')
  expect(reads?.metadata).toEqual([1, 'Reads of a disk', 'count'])
})

/** Writes loads, whose values are the times. */
function putLoads(made: ArchiveImport, from: number, to: number): void {
  for (let second = from; second < to; second++) {
    made.put('demo.load', second)
    made.write(at(second))
  }
}

const loads = (from: number, to: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: to - from }, (_, i) => [String(from + i), String(from + i)]))

test('selects metrics and times, and adds labels', async () => {
  const made = create('a')
  for (let second = 0; second < 5; second++) {
    made.put('demo.disk.reads', 1n, 'sda')
    made.put('demo.load', second)
    made.write(at(second))
  }
  made.close()
  await using receiver = await Receiver.start({ versions: [1] })
  const labels = new Map([
    ['job', 'pcp'],
    ['site', 'below those of the archive'],
  ])
  await ship(receiver, { isWanted: (name) => name === 'demo.load', labels, start: at(1), finish: at(3) })
  const key = 'demo_load{hostname=host,job=pcp,rank=3,site=north}'
  expect([...receiver.values.keys()]).toEqual([key])
  expect(seriesOf(receiver, key)).toEqual(loads(1, 4))
})

test('a renamed instance and changed labels are other series', async () => {
  const made = create('a')
  const put = (second: number): void => {
    made.put('demo.load', second)
    made.write(at(second))
  }
  put(0)
  made.addLabels({ site: 'south' })
  put(1)
  made.close()
  await using receiver = await Receiver.start()
  await ship(receiver)
  expect(seriesOf(receiver, LOAD)).toEqual({ '0': '0', '1': STALE })
  expect(seriesOf(receiver, LOAD.replace('north', 'south'))).toEqual({ '1': '1' })
})

test('follows an archive that grows, and the next one', async () => {
  const first = create('20260101')
  putLoads(first, 0, 5)
  let second: ArchiveImport | undefined
  const steps: (() => void)[] = [
    () => putLoads(first, 5, 8),
    () => first.close(),
    () => {
      second = create('20260102')
      putLoads(second, 20, 25)
    },
    () => putLoads(second!, 25, 30),
    () => second!.close(),
  ]
  await using receiver = await Receiver.start({ isStrict: true })
  const { lines } = await ship(receiver, {
    onIdle: () => {
      steps.shift()?.()
      return steps.length > 0
    },
  })
  expect(lines).toEqual([])
  expect(seriesOf(receiver, LOAD)).toEqual({ ...loads(0, 8), '7.001': STALE, ...loads(20, 30) })
})

test('continues where an earlier process was ended, at any request', async () => {
  const made = create('a')
  putLoads(made, 0, 40)
  made.close()
  for (let ended = 0; ended < 8; ended++) {
    rmSync(join(dir, 'state'), { recursive: true, force: true })
    const controller = new AbortController()
    await using receiver = await Receiver.start({
      isStrict: true,
      versions: [1, 2],
      // The process ends after the request was written, and before it knows.
      onWritten: ({ requests }) => requests.length === ended + 1 && controller.abort(new Error('ended')),
    })
    const positions = await openPositions(join(dir, 'state'), receiver.url.href)
    // Its end would write positions, which a killed process cannot.
    const killed = { ...bound(positions), flush: () => controller.signal.aborted || positions.flush() }
    const run = ship(receiver, { positions: killed, samples: 6, signal: controller.signal })
    await run.catch(() => {})
    releaseLock()
    const continued = await openPositions(join(dir, 'state'), receiver.url.href)
    const { sender, lines } = await ship(receiver, { positions: continued, samples: 10 })
    continued.close()
    expect(seriesOf(receiver, LOAD), `ended at ${ended}`).toEqual(loads(0, 40))
    expect(receiver.contradictions).toBe(0)
    expect(sender.counts).toMatchObject({ refused: 0 })
    expect(lines).toEqual([])
  }
})

/** Positions whose methods can be replaced. */
function bound(positions: Positions): Positions {
  return {
    get: (key) => positions.get(key),
    set: (key, position) => positions.set(key, position),
    flush: () => positions.flush(),
    close: () => positions.close(),
  }
}

/** Removes the lock of this process, as if it had ended. */
function releaseLock(): void {
  rmSync(join(dir, 'state', 'lock'), { force: true })
}

test('continues in a merged archive', async () => {
  const first = create('20260101.00')
  putLoads(first, 0, 10)
  await using receiver = await Receiver.start({ isStrict: true })
  const steps: (() => void)[] = [
    () => {
      putLoads(first, 10, 12)
      first.close()
      for (const part of ['0', 'meta', 'index']) rmSync(join(dir, `20260101.00.${part}`))
      const merged = create('20260101')
      putLoads(merged, 0, 15)
      merged.close()
    },
    () => {},
    () => {},
  ]
  const { lines, sender } = await ship(receiver, {
    onIdle: () => {
      steps.shift()?.()
      return steps.length > 0
    },
  })
  expect(seriesOf(receiver, LOAD)).toEqual(loads(0, 15))
  expect(sender.counts.refused).toBe(0)
  expect(lines).toEqual([])
})

const loadOf = (host: string): string => `demo_load{hostname=${host},rank=3,site=north}`

test('many hosts, with fewer series in memory than they have', async () => {
  const hosts = Array.from({ length: 20 }, (_, i) => `host${i}`)
  const archives = hosts.map((hostname) => {
    const made = create(hostname, { hostname })
    putLoads(made, 0, 3)
    return made
  })
  let step = 0
  await using receiver = await Receiver.start({ isStrict: true })
  const { lines } = await ship(receiver, {
    mostSeries: 5,
    shards: 3,
    samples: 7,
    onIdle: () => {
      step++
      if (step <= 6) for (const made of archives) putLoads(made, 3 * step, 3 * step + 3)
      // Another shard may still wait for replies.
      return step < 20 || !hosts.every((host) => Object.keys(seriesOf(receiver, loadOf(host))).length === 21)
    },
  })
  for (const made of archives) made.close()
  expect(lines).toEqual([])
  for (const host of hosts) expect(seriesOf(receiver, loadOf(host)), host).toEqual(loads(0, 21))
})

test('damage ends an archive, and the next one is sent', async () => {
  const first = create('20260101')
  putLoads(first, 0, 10)
  first.close()
  const second = create('20260102')
  putLoads(second, 100, 105)
  second.close()
  const bytes = readFileSync(join(dir, '20260101.0'))
  bytes.fill(0xff, bytes.length - 200, bytes.length - 140)
  writeFileSync(join(dir, '20260101.0'), bytes)
  await using receiver = await Receiver.start()
  const { lines } = await ship(receiver)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(
    /^DIR\/20260101\.0: damaged record at byte .*: the rest of DIR\/20260101 is not sent$/,
  )
  expect(seriesOf(receiver, LOAD)).toMatchObject(loads(100, 105))
  expect(seriesOf(receiver, LOAD)).toMatchObject(loads(0, 3))
})

test('an archive that is replaced by another of its name', async () => {
  const first = create('a')
  putLoads(first, 0, 5)
  first.close()
  const other = create('b')
  putLoads(other, 50, 55)
  other.close()
  await using receiver = await Receiver.start({ isStrict: true })
  let step = 0
  await ship(receiver, {
    isWanted: (name) => name === 'demo.load',
    onIdle: () => {
      if (step++ === 0)
        for (const part of ['0', 'meta', 'index']) renameSync(join(dir, `b.${part}`), join(dir, `a.${part}`))
      return step < 4
    },
  })
  expect(seriesOf(receiver, LOAD)).toMatchObject({ ...loads(0, 5), ...loads(50, 55) })
})

test('a directory of positions belongs to one process and one receiver', async () => {
  const state = join(dir, 'state')
  const held = await openPositions(state, 'http://one/')
  await expect(openPositions(state, 'http://one/')).rejects.toMatchObject({ code: 'EBUSY' })
  held.set('q', { base: 'b', position: undefined, time: undefined })
  held.close()
  await expect(openPositions(state, 'http://two/')).rejects.toThrow('has the positions for http://one/')
  for (const text of ['', '{', '{"version":1,"url":"http://one/","queues":{"q":{"base":7}}}', 'null']) {
    writeFileSync(join(state, 'positions.json'), text)
    await expect(openPositions(state, 'http://one/')).rejects.toThrow('positions.json: damaged')
  }
})
