/** Archives on a web server, read in parts. */
import { beforeAll, describe, expect, test } from 'vitest'
import { decodeChartRange } from '../../src/archive/chart-bytes.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { MOST_RECORDS } from '../../src/archive/newest-texts.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'
import { checkedRange, type Network, openRemoteArchive } from '../../src/ui/data/remote-archive.ts'
import { BLOCK, MOST_KEPT, type PartReader, remoteFiles } from '../../src/ui/data/remote-files.ts'

const START = 1_790_000_000
const [DAYS, EVERY] = [7, 60]

/** A week of a value a minute of many instances, some gauges, and a value that was recorded once. */
function writeWeek(): ReadonlyMap<string, Uint8Array> {
  const output = memoryOutput('week')
  const made = new ArchiveImport(output, { version: 3, hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  const cpus = Array.from({ length: 64 }, (_, i) => `cpu${i}`)
  made.addMetric('kernel.percpu.cpu.idle', {
    type: PM_TYPE_U64,
    sem: PM_SEM_COUNTER,
    units: 'millisec',
    indom: 'cpus',
  })
  made.addMetric('kernel.all.load', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT })
  made.addMetric('hinv.ncpu', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE })
  made.put('hinv.ncpu', 64)
  for (let minute = 0; minute <= (DAYS * 86_400) / EVERY; minute++) {
    for (const [i, cpu] of cpus.entries()) made.put('kernel.percpu.cpu.idle', minute * (40_000 + i), cpu)
    made.put('kernel.all.load', minute % 7)
    made.write({ sec: START + EVERY * minute, nsec: 0 })
  }
  made.close()
  return new Map([...output.contents()].map(([part, bytes]) => [`week.${part}`, bytes]))
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

interface Served {
  readonly network: Network
  /** Requests in order: a range, or the whole file. */
  readonly asked: string[]
  /** Waits for the network: blocking requests, and batches of others that were sent together. */
  waits: number
  bytes: number
}

/** A web server with these files. */
function served(
  files: ReadonlyMap<string, Uint8Array>,
  { headers = {}, hasRanges = true }: { headers?: Record<string, string>; hasRanges?: boolean } = {},
): Served {
  const find = (url: string): Uint8Array | undefined =>
    files.get(decodeURIComponent(/^https:\/\/host\/a b\/(.*)$/.exec(decodeURI(url))?.[1] ?? ''))
  let pending: Promise<unknown> | undefined
  const one: Served = {
    asked: [],
    bytes: 0,
    waits: 0,
    network: {
      async fetch(url, { method = 'GET', credentials, headers: sent }) {
        expect(credentials).toBe('omit')
        if (pending === undefined) {
          one.waits++
          pending = new Promise((resolve) => setTimeout(resolve)).then(() => (pending = undefined))
        }
        await pending
        const found = find(url)
        if (found === undefined) return new Response('', { status: 404 })
        const range = /^bytes=(\d+)-(\d+)$/.exec(new Headers(sent).get('Range') ?? '')
        if (range !== null && hasRanges) {
          const [from, to] = [Number(range[1]), Number(range[2])]
          one.asked.push(`${from}+${to + 1 - from}`)
          const bytes = found.slice(from, to + 1)
          one.bytes += bytes.length
          return new Response(bytes as Uint8Array<ArrayBuffer>, { status: 206 })
        }
        one.asked.push(`${method} ${url.split('/').at(-1)}`)
        const all = { 'Content-Length': String(found.length), ...headers }
        if (method === 'HEAD') return new Response(null, { headers: all })
        one.bytes += found.length
        return new Response(found as Uint8Array<ArrayBuffer>, { headers: all })
      },
      readRange(url, offset, length) {
        const found = find(url)!
        const bytes = hasRanges ? found.slice(offset, offset + length) : found
        one.asked.push(`${offset}+${length}`)
        one.waits++
        one.bytes += bytes.length
        return checkedRange(url, length, { status: hasRanges ? 206 : 200, bytes })
      },
    },
  }
  return one
}

describe('an archive of a week', () => {
  let files: ReadonlyMap<string, Uint8Array>
  let size = 0
  beforeAll(() => {
    files = writeWeek()
    for (const { length } of files.values()) size += length
  })

  test('shows its last hour after few requests and at most 5 % of its bytes, the same as the whole archive', async () => {
    const server = served(files)
    const remote = await openRemoteArchive('https://host/a%20b/week', server.network)
    expect(remote).toMatchObject({ base: 'week', bytes: size })
    expect(remote.archive.span).toEqual({ start: START, end: START + DAYS * 86_400 })
    const query = {
      names: ['kernel.percpu.cpu.idle', 'kernel.all.load', 'page.busy'],
      derive: { 'page.busy': '1 - rate(kernel.percpu.cpu.idle)' },
      start: START + DAYS * 86_400 - 2 * 3600,
      finish: START + DAYS * 86_400,
      points: 1200,
    }
    const answer = await remote.archive.range(query)
    expect(server.bytes).toBeLessThanOrEqual(0.05 * size)
    // Files and sizes, then both ends, then the window.
    expect(server.waits).toBe(3)
    expect(server.asked.length).toBeLessThanOrEqual(8)
    const whole = await new LocalArchive('week', files).range(query)
    expect(decodeChartRange(answer)).toEqual(decodeChartRange(whole))
    // The same window again costs nothing.
    const before = server.bytes
    await remote.archive.range(query)
    expect(server.bytes).toBe(before)
  })

  test.each([
    ['in the middle', 3 * 86_400, 2 * 3600],
    ['from the start', 0, 2 * 3600],
    ['of half the archive', 86_400, 4 * 86_400],
  ])('a window %s waits for little more than its bytes', async (_, from, seconds) => {
    const server = served(files)
    const { archive } = await openRemoteArchive('https://host/a%20b/week', server.network)
    const [waits, bytes] = [server.waits, server.bytes]
    const [start, finish] = [START + from, START + from + seconds]
    const query = { names: ['kernel.percpu.cpu.idle'], derive: {}, start, finish, points: 600 }
    const answer = await archive.range(query)
    // One for the window, and one if the record after its end is in another block.
    expect(server.waits - waits).toBeLessThanOrEqual(2)
    const share = seconds / (DAYS * 86_400)
    expect(server.bytes - bytes).toBeLessThanOrEqual(share * size + 16 * BLOCK)
    expect(decodeChartRange(answer)).toEqual(
      decodeChartRange(await new LocalArchive('week', files).range(query)),
    )
  })

  test('has a name that ends as a volume does', async () => {
    const named = new Map([...files].map(([name, bytes]) => [name.replace('week', '20261128.22.47'), bytes]))
    const { network } = served(named)
    for (const name of ['20261128.22.47', '20261128.22.47.0', '20261128.22.47.meta'])
      expect(await openRemoteArchive(`https://host/a%20b/${name}`, network)).toMatchObject({
        base: '20261128.22.47',
      })
    const other = served(files).network
    expect(await openRemoteArchive('https://host/a%20b/week.0', other)).toMatchObject({ base: 'week' })
  })

  test('is read completely where it is compressed, and shows the same', async () => {
    const compressed = new Map<string, Uint8Array>()
    for (const [name, bytes] of files)
      if (name.endsWith('.index')) compressed.set(name, bytes)
      else compressed.set(`${name}.gz`, await gzipped(bytes))
    const server = served(compressed)
    const remote = await openRemoteArchive('https://host/a%20b/week', server.network)
    expect(remote.bytes).toBe(size)
    const finish = START + DAYS * 86_400
    const query = { names: ['kernel.all.load'], derive: {}, start: finish - 3600, finish, points: 100 }
    const before = server.asked.length
    const answer = await remote.archive.range(query)
    expect(server.asked.length).toBe(before)
    const whole = await new LocalArchive('week', files).range(query)
    expect(decodeChartRange(answer)).toEqual(decodeChartRange(whole))
  })

  test.each([
    ['at the end', DAYS * 86_400 - 3600],
    ['in the middle', 3 * 86_400],
    ['at the start', 0],
  ])(
    'shows values recorded once, and expressions of them, without searching the whole archive, %s',
    async (_, from) => {
      const server = served(files)
      const { archive } = await openRemoteArchive('https://host/a%20b/week', server.network)
      const query = {
        names: ['hinv.ncpu', 'page.each', 'page.busy', 'page.load'],
        derive: {
          'page.each': 'kernel.all.load / hinv.ncpu',
          'page.busy': '1 - rate(kernel.percpu.cpu.idle)',
          'page.load': '2 * kernel.all.load',
        },
        start: START + from,
        finish: START + from + 3600,
        points: 600,
      }
      const answer = decodeChartRange(await archive.range(query))
      expect(server.bytes).toBeLessThanOrEqual(0.05 * size)
      const whole = decodeChartRange(await new LocalArchive('week', files).range(query))
      for (const metric of whole.metrics)
        expect('columns' in metric && metric.columns.length).toBeGreaterThan(0)
      expect(answer).toEqual(whole)
    },
  )

  const opened = (
    change: Parameters<typeof served>[1] = {},
    names = (name: string) => name,
    url = 'week',
  ) => {
    const changed = new Map([...files].map(([name, bytes]) => [names(name), bytes]))
    return openRemoteArchive(`https://host/a%20b/${url}`, served(changed, change).network)
  }

  test.each([
    ['no metadata', () => opened({}, (name) => name.replace('meta', 'other')), 'There is no week.meta at'],
    [
      'no index',
      () => opened({}, (name) => name.replace('index', 'other')),
      'without it, everything would have to be read',
    ],
    ['no volume', () => opened({}, (name) => name.replace('.0', '.other')), 'No volume of week'],
    [
      'too much that is compressed',
      () =>
        opened({ headers: { 'Content-Length': String(65 << 20) } }, (name) => name.replace('.0', '.0.zst')),
      'week.0.zst is compressed, so that the page has to read all of 65 MiB, which is too much',
    ],
    [
      'damaged compression',
      () => opened({}, (name) => name.replace('.0', '.0.xz')),
      'week.0.xz cannot be decompressed',
    ],
    [
      'a server that compresses',
      () => opened({ headers: { 'Content-Encoding': 'gzip' } }),
      'compression by the server must be off',
    ],
    ['a server without ranges', () => opened({ hasRanges: false }), 'it must support requests for ranges'],
    ['a folder', () => opened({}, undefined, ''), 'names a folder'],
  ])('%s is reported', async (_, open, message) => {
    await expect(open()).rejects.toThrow(message)
  })

  test.each([
    ['ftp://host/week', 'is not an address of an archive'],
    ['week', 'is not an address of an archive'],
    ['https://me:secret@host/week', 'An address with a password is not opened'],
  ])('%s is refused', async (url, message) => {
    await expect(openRemoteArchive(url, served(files).network)).rejects.toThrow(message)
  })

  test('a server that does not allow the page is reported', async () => {
    const network: Network = {
      ...served(files).network,
      fetch: () => Promise.reject(new TypeError('Failed to fetch')),
    }
    await expect(openRemoteArchive('https://host/week', network)).rejects.toThrow(
      'CORS: Access-Control-Allow-Origin',
    )
  })
})

describe('an archive of a recorder', () => {
  /** Two places at which a value of the start might be recorded again. */
  const PLACES = 2 * 4 * BLOCK
  const HOURS = 24
  const at = (seconds: number): number => START + seconds
  /** Interruptions: a short one, and a long one. */
  const PAUSES = [
    [8 * 3600, 8 * 3600 + 5],
    [15 * 3600, 15 * 3600 + 1800],
  ] as const

  /** A day as a recorder writes it: facts first and after each interruption, a record every ten seconds, one every ten minutes. */
  function writeDay(): ReadonlyMap<string, Uint8Array> {
    const output = memoryOutput('day')
    const made = new ArchiveImport(output, { version: 3, hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
    const [counter, instant, discrete] = [PM_SEM_COUNTER, PM_SEM_INSTANT, PM_SEM_DISCRETE]
    made.addMetric('hinv.ncpu', { type: PM_TYPE_U32, sem: discrete })
    made.addMetric('hinv.size', { type: PM_TYPE_U64, sem: discrete, indom: 'disks' })
    made.addMetric('filesys.blocksize', { type: PM_TYPE_U32, sem: instant })
    // `npm start` records all of hinv once: on some machines with counters of frequency scaling and throttling.
    made.addMetric('hinv.throttled', { type: PM_TYPE_U64, sem: counter })
    made.addMetric('cpu.user', { type: PM_TYPE_U64, sem: counter, units: 'millisec', indom: 'cpus' })
    made.addMetric('disk.total', { type: PM_TYPE_U64, sem: counter, units: 'count', indom: 'disks' })
    made.addMetric('filesys.capacity', { type: PM_TYPE_U64, sem: discrete })
    made.addMetric('filesys.used', { type: PM_TYPE_U64, sem: instant })
    made.addMetric('filesys.free', { type: PM_TYPE_U64, sem: instant })
    let cpus = 4
    let isPaused = true
    for (let t = 0; t <= HOURS * 3600; t += 10) {
      if (PAUSES.some(([from, to]) => t > from && t < to)) {
        if (!isPaused) made.mark()
        isPaused = true
        continue
      }
      // The short one ends before the next record is due.
      if (t === 8 * 3600 + 10) {
        made.mark()
        isPaused = true
      }
      if (isPaused) {
        made.put('hinv.ncpu', cpus)
        made.put('hinv.size', 1000, 'sda')
        made.put('hinv.size', 500 * cpus, 'sdb')
        made.put('filesys.blocksize', 4096)
        made.put('hinv.throttled', t)
        made.write({ sec: START + t, nsec: 1000 })
        cpus *= 2
      }
      isPaused = false
      for (let cpu = 0; cpu < 60; cpu++) made.put('cpu.user', 10 * t * (1 + (cpu % 3)), `cpu${cpu}`)
      for (const disk of ['sda', 'sdb']) made.put('disk.total', t * 7, disk)
      made.write({ sec: START + t, nsec: 2000 })
      if (t % 600 !== 0) continue
      made.put('filesys.capacity', 1e9 + t)
      made.put('filesys.used', 5e8 + t)
      made.put('filesys.free', 5e8)
      made.write({ sec: START + t, nsec: 3000 })
    }
    made.close()
    return new Map([...output.contents()].map(([part, bytes]) => [`day.${part}`, bytes]))
  }
  const files = writeDay()
  const size = [...files.values()].reduce((sum, { length }) => sum + length, 0)
  const derive = {
    'page.share': 'sum(rate(cpu.user)) / hinv.ncpu',
    'page.full': 'rate(disk.total) / hinv.size',
    'page.twice': '2 * hinv.ncpu',
  }
  const names = ['hinv.ncpu', 'hinv.size', 'cpu.user', ...Object.keys(derive)]

  test.each([
    ['right after the start', 0, 600],
    ['of the first hours', 3600, 3600],
    ['before the short interruption', 7 * 3600, 3600],
    ['over the short interruption', 8 * 3600 - 300, 900],
    ['before the long interruption', 14 * 3600, 3600],
    ['over the long interruption', 15 * 3600 - 600, 3600],
    ['within the long interruption', 15 * 3600 + 600, 600],
    ['after the long interruption', 16 * 3600, 3600],
    ['of the last hour', 23 * 3600, 3600],
  ])('has the same values as when all of it is read: a window %s', async (_, from, seconds) => {
    const server = served(files)
    const { archive } = await openRemoteArchive('https://host/a%20b/day', server.network)
    const opened = server.bytes
    for (const aligned of [false, true]) {
      const query = { names, derive, start: at(from), finish: at(from + seconds), points: 600, aligned }
      const answer = decodeChartRange(await archive.range(query))
      expect(answer).toEqual(decodeChartRange(await new LocalArchive('day', files).range(query)))
    }
    const share = (seconds + 2 * 180) / (HOURS * 3600)
    expect(server.bytes - opened).toBeLessThanOrEqual(share * size + 32 * BLOCK + PLACES)
  })

  test('opens with as much of its end as is cheap to read', async () => {
    const server = served(files)
    const { archive, firstWidth } = await openRemoteArchive('https://host/a%20b/day', server.network)
    expect(firstWidth).toBe(3 * 3600)
    const before = server.bytes
    const { end } = archive.span
    await archive.range({ names, derive, start: end - firstWidth, finish: end, points: 600 })
    expect(server.bytes - before).toBeLessThan(2_700_000)
    expect(server.bytes - before).toBeGreaterThan(2_700_000 / 4)
  })

  const RULES = [
    'all_busy = sum_inst (cpu.user) / hinv.ncpu > 500 -> print "busy %v";',
    'disk_full = some_inst (disk.total > 6 count/sec) -> print 10 min "disk %i %v";',
    'changed = hinv.ncpu != hinv.ncpu @1 -> print "CPUs %v";',
    'quiet = some_inst (cpu.user < 0.5) -> print "never %i";',
  ].join('\n')

  test.each([
    ['after the start', 0, 1800],
    ['over the short interruption', 8 * 3600 - 600, 1800],
    ['before the long interruption', 14 * 3600 + 1800, 1800],
    ['over the long interruption', 15 * 3600 - 600, 3600],
    ['of the last half hour', 24 * 3600 - 1800, 1800],
  ])('has the same firings as when all of it is read: a window %s', async (_, from, seconds) => {
    const server = served(files)
    const { archive } = await openRemoteArchive('https://host/a%20b/day', server.network)
    const [bytes, reads]: [number, (readonly [number, number])[]] = [server.bytes, []]
    const query = { text: RULES, deltaSec: 10, start: at(from), finish: at(from + seconds) }
    const found = await archive.firings(query, undefined, (...read) => reads.push(read))
    expect(found).toEqual(await new LocalArchive('day', files).firings(query))
    expect(found.problems).toEqual([])
    expect(found.rules.map(({ count }) => count > 0)).toContain(true)
    const total = reads[0]![1]
    expect(reads.at(-1)).toEqual([total, total])
    expect(server.bytes - bytes).toBeLessThanOrEqual(
      ((seconds + 360) / (HOURS * 3600)) * size + 32 * BLOCK + PLACES,
    )
  })

  test('tries rules on all of it, and stops reading when that is cancelled', async () => {
    const server = served(files)
    const { archive } = await openRemoteArchive('https://host/a%20b/day', server.network)
    const before = server.bytes
    const stop = new AbortController()
    const ended = archive.firings({ text: RULES, deltaSec: 60 }, stop.signal, (done) => {
      if (done > 0) stop.abort()
    })
    await expect(ended).rejects.toMatchObject({ code: 'ECANCELED' })
    expect(server.bytes - before).toBeLessThan(size / 2)
    const all = await archive.firings({ text: RULES, deltaSec: 60 })
    expect(all).toEqual(await new LocalArchive('day', files).firings({ text: RULES, deltaSec: 60 }))
    expect(all.rules.filter(({ count }) => count > 0)).toHaveLength(3)
    // Each block is read once.
    expect(server.bytes).toBeLessThanOrEqual(size + 16 * BLOCK)
  })

  test('shows no old value of a metric that was recorded at long intervals', async () => {
    const { archive } = await openRemoteArchive('https://host/a%20b/day', served(files).network)
    const query = { names: ['filesys.capacity'], derive: {}, points: 600, start: at(72_000 + 200) }
    const of = async (finish: number) =>
      decodeChartRange(await archive.range({ ...query, finish: at(finish) }))
    expect((await of(72_000 + 500)).metrics).toMatchObject([{ columns: [] }])
    const { metrics, lists } = await of(72_000 + 900)
    const [{ columns }] = metrics as unknown as [{ columns: readonly { values: number }[] }]
    expect(Array.from(lists[columns[0]!.values]!)).toEqual([1e9 + 72_600, 1e9 + 72_600])
  })
})

describe('a discrete metric in separate records', () => {
  const HOUR = 3600
  /** Every two hours it has another value. */
  const valueAt = (t: number): number => 4 + Math.floor(t / (2 * HOUR))

  /** A day with a value every `every` seconds, other records every ten seconds, and the host's facts once. */
  function writeDay(every: number): ReadonlyMap<string, Uint8Array> {
    const output = memoryOutput('day')
    const made = new ArchiveImport(output, { version: 3, hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
    made.addMetric('hinv.ncpu', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE })
    made.addMetric('hinv.n', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE })
    made.addMetric('cpu.user', { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: 'millisec', indom: 'cpus' })
    made.put('hinv.ncpu', 16)
    made.write({ sec: START, nsec: 1000 })
    for (let t = 0; t <= 24 * HOUR; t += 10) {
      if (t % every === 0) {
        made.put('hinv.n', valueAt(t))
        made.write({ sec: START + t, nsec: 20_000_000 })
      }
      for (let cpu = 0; cpu < 100; cpu++) made.put('cpu.user', 10 * t, `cpu${cpu}`)
      made.write({ sec: START + t, nsec: 30_000_000 })
    }
    made.close()
    return new Map([...output.contents()].map(([part, bytes]) => [`day.${part}`, bytes]))
  }

  test.each([240, 600, 1200, ...[1, 1.5, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR)])(
    'shows no old value if recorded every %d s, and the value of a metric recorded once',
    async (every) => {
      const files = writeDay(every)
      const size = [...files.values()].reduce((sum, { length }) => sum + length, 0)
      const whole = new LocalArchive('day', files)
      for (const hours of [0.12, 0.4, 1.08, 2.6, 3.05, 5.1, 7.2, 9.9, 13.3, 18.6, 23]) {
        const server = served(files)
        const { archive } = await openRemoteArchive('https://host/a%20b/day', server.network)
        const start = START + Math.round(hours * HOUR)
        const query = { derive: {}, start, finish: start + 100, points: 100 }
        const [bytes, waits] = [server.bytes, server.waits]
        const fact = { ...query, names: ['hinv.ncpu', 'cpu.user'] }
        const facts = decodeChartRange(await archive.range(fact))
        expect(facts).toEqual(decodeChartRange(await whole.range(fact)))
        expect(facts.metrics[0]).toMatchObject({ columns: [{}] })
        expect(server.waits - waits).toBeLessThanOrEqual(4)
        const one = { ...query, names: ['hinv.n'] }
        const found = decodeChartRange(await archive.range(one))
        const { columns } = found.metrics[0] as { readonly columns: readonly { readonly values: number }[] }
        const isLast = Math.floor((start - START) / every) === 0
        if (isLast) expect(columns).toHaveLength(1)
        // The whole archive also shows the next value, if that is nearer.
        const last = valueAt(Math.floor((start - START) / every) * every)
        for (const { values } of columns)
          for (const value of found.lists[values]!) expect(value).toBeGreaterThanOrEqual(last)
        expect(server.bytes - bytes).toBeLessThanOrEqual((500 / (24 * HOUR)) * size + 32 * BLOCK)
      }
    },
  )
})

test('finds texts that were recorded only at the start of a long archive, dropped or on a web server', async () => {
  const output = memoryOutput('long')
  const made = new ArchiveImport(output, { version: 3, hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('filesys.mountdir', { type: PM_TYPE_STRING, sem: PM_SEM_DISCRETE, indom: 'filesystems' })
  made.addMetric('kernel.all.load', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT })
  made.put('filesys.mountdir', '/', '/dev/sda1')
  made.put('filesys.mountdir', '/home', '/dev/sda2')
  made.write({ sec: START, nsec: 0 })
  for (let i = 1; i <= MOST_RECORDS + 100; i++) {
    made.put('kernel.all.load', i)
    made.write({ sec: START + 10 * i, nsec: 0 })
  }
  made.close()
  const files = new Map([...output.contents()].map(([part, bytes]) => [`long.${part}`, bytes]))
  const server = served(files)
  const { archive } = await openRemoteArchive('https://host/a%20b/long', server.network)
  const before = server.bytes
  for (const one of [archive, new LocalArchive('long', files)])
    expect(await one.instances('filesys.mountdir', true)).toEqual([
      { id: 0, name: '/dev/sda1', value: '/' },
      { id: 1, name: '/dev/sda2', value: '/home' },
    ])
  expect(server.bytes - before).toBeLessThanOrEqual(16 * BLOCK)
})

describe('blocks', () => {
  const size = MOST_KEPT + 10 * BLOCK + 5
  const byteAt = (offset: number): number => (offset * 7 + (offset >> 8)) & 255
  const lastBlock = Math.floor(size / BLOCK)

  function opened() {
    const asked: string[] = []
    const note = (kind: string, offset: number, length: number): void => {
      asked.push(`${kind}${offset / BLOCK}+${Math.ceil(length / BLOCK)}`)
    }
    const part = (offset: number, length: number): Uint8Array => {
      const bytes = new Uint8Array(length)
      for (let i = 0; i < length; i++) bytes[i] = byteAt(offset + i)
      return bytes
    }
    const reader: PartReader = {
      readNow(_, offset, length) {
        note('', offset, length)
        return part(offset, length)
      },
      async read(_, offset, length) {
        note('~', offset, length)
        return part(offset, length)
      },
    }
    const files = remoteFiles(new Map([['a.0', size]]), reader)
    const source = files.open('./a.0')
    const check = (offset: number, length: number): void => {
      const target = new Uint8Array(length)
      const read = source.readInto(target, offset)
      expect(read).toBe(Math.max(0, Math.min(length, size - offset)))
      const expected = part(offset, read)
      expect(target.subarray(0, read).every((byte, i) => byte === expected[i])).toBe(true)
    }
    return { asked, files, check }
  }

  test('are read once, neighbours together', () => {
    const { asked, check } = opened()
    check(BLOCK - 10, 20)
    check(5, BLOCK)
    check(size - 3, 100)
    check(size, 10)
    expect(asked).toEqual(['0+2', `${lastBlock}+1`])
  })

  test('are read ahead, more each time, by reads that continue in either direction', () => {
    const { asked, check } = opened()
    for (let block = 100; block < 140; block++) check(block * BLOCK, BLOCK)
    expect(asked).toEqual(['100+1', '101+3', '104+7', '111+15', '126+31'])
    asked.length = 0
    for (let block = 90; block > 60; block--) check(block * BLOCK, BLOCK)
    expect(asked).toEqual(['90+1', '87+3', '80+7', '65+15', '34+31'])
  })

  test('that were read in advance need no wait, and are requested once', async () => {
    const { asked, files, check } = opened()
    const parts = [{ path: './a.0', offset: 10 * BLOCK + 5, length: 40 * BLOCK }]
    const once = files.prefetch(parts, Number.POSITIVE_INFINITY)
    await Promise.all([once, files.prefetch(parts, 20 * BLOCK)])
    check(10 * BLOCK, 41 * BLOCK)
    expect(asked).toEqual(['~10+32', '~42+9'])
    asked.length = 0
    await files.prefetch(
      [{ path: './a.0', offset: size - BLOCK, length: Number.POSITIVE_INFINITY }],
      64 * BLOCK,
    )
    await files.prefetch(
      [{ path: './a.0', offset: 200 * BLOCK, length: Number.POSITIVE_INFINITY }],
      3 * BLOCK,
    )
    expect(asked).toEqual([`~${lastBlock - 1}+2`, '~200+3'])
  })

  test('are read all or not at all, with progress, where that is requested', async () => {
    const { asked, files } = opened()
    const reads: (readonly [number, number])[] = []
    const onRead = (done: number, total: number): void => void reads.push([done, total])
    const parts = [{ path: './a.0', offset: 0, length: 200 * BLOCK }]
    await expect(files.prefetch(parts, 1, { most: 199 * BLOCK, onRead })).rejects.toThrow(
      'That takes 3.1 MiB of this archive, more than the 3.1 MiB that are read',
    )
    expect([asked, reads]).toEqual([[], []])
    await files.prefetch(parts, 1, { most: 200 * BLOCK, onRead })
    const total = 200 * BLOCK
    expect(reads).toEqual([0, 128 * BLOCK, total].map((done) => [done, total]))
    expect(asked).toEqual(['~0+32', '~32+32', '~64+32', '~96+32', '~128+32', '~160+32', '~192+8'])
  })

  test('are kept in a bounded number', async () => {
    const { asked, files, check } = opened()
    const all = [{ path: 'a.0', offset: 0, length: Number.POSITIVE_INFINITY }]
    check(0, 1)
    await files.prefetch([{ ...all[0]!, offset: 4 * BLOCK }], Number.POSITIVE_INFINITY)
    asked.length = 0
    check(0, 1) // the oldest block was dropped
    check(size - 1, 1)
    expect(asked).toEqual(['0+1'])
  })
})
