import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import type { MetricOptions } from '../../../src/archive/import/import-metric.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import type { WriterOptions } from '../../../src/archive/write/writer.ts'
import { pmid } from '../../../src/model/ids.ts'
import { PM_TYPE_32, PM_TYPE_STRING, PM_TYPE_U32, PM_TYPE_U64 } from '../../../src/model/types.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { tool } from '../../../src/tools/pmlogextract/index.ts'
import { testIo } from '../run-tool.ts'

let top: string
let dir: string
let count = 0
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'pmlogextract-'))
})
beforeEach(() => {
  dir = mkdtempSync(join(top, 'case-'))
  count = 0
})
afterAll(() => rmSync(top, { recursive: true }))

function make(
  name: string,
  fill: (archive: ArchiveImport) => void,
  options: Partial<WriterOptions> = {},
): string {
  const archive = new ArchiveImport(archiveOutput(join(dir, name)), {
    version: 2,
    hostname: 'h',
    timezone: 'UTC',
    pid: 7,
    ...options,
  })
  fill(archive)
  archive.close()
  return join(dir, name)
}

const ID = pmid(60, 1, 1)
const at = (sec: number): { sec: number; nsec: number } => ({ sec, nsec: 0 })

/** Writes an archive with records of `foo.bar` at these seconds. */
function series(name: string, times: readonly number[], metric: MetricOptions = {}, options = {}): string {
  return make(
    name,
    (archive) => {
      archive.addMetric('foo.bar', { pmid: ID, type: PM_TYPE_32, ...metric })
      for (const sec of times) {
        archive.put('foo.bar', sec)
        archive.write(at(sec))
      }
    },
    options,
  )
}

async function extract(...args: string[]): Promise<{ status: number; stderr: string; out: string }> {
  const out = join(dir, `out${++count}`)
  const io = testIo('pmlogextract', [...args, out])
  const status = await tool.run(io)
  return { status, stderr: io.printed.stderr.replaceAll(dir, 'DIR'), out }
}

/** Damages the length of a record. */
function spoil(path: string, offset: number): void {
  const bytes = readFileSync(path)
  bytes.writeInt32BE(-1, offset)
  writeFileSync(path, bytes)
}

/** Returns the times of records, with an m for marks. */
function times(base: string): string {
  return records(
    base,
    (record) => `${record.sec}${record.nsec === 0 ? '' : `.${record.nsec}`}${record.count === 0 ? 'm' : ''}`,
  ).join(' ')
}

function records<T>(
  base: string,
  what: (record: NonNullable<ReturnType<RecordReader['next']>>, archive: Archive) => T,
): T[] {
  const archive = Archive.open(base, archiveFiles())
  const reader = new RecordReader(archive)
  const found: T[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next())
    found.push(what(record, archive))
  archive.close()
  return found
}

/** Returns values as `metric[instance]=value`. */
function values(base: string): string[] {
  return records(base, (record, { metadata }) =>
    record
      .toResult()
      .sets.flatMap((set) => {
        const desc = metadata.descs.get(set.pmid)!
        const name = metadata.names.namesOf(set.pmid)[0]
        return valuesOf(set, desc.type).map(({ inst, value }) => `${name}[${inst}]=${value}`)
      })
      .join(' '),
  )
}

describe('merging', () => {
  test('merges by time, with a mark at the end of an input', async () => {
    const { status, stderr, out } = await extract(series('b', [15, 25, 35]), series('a', [10, 20, 30]))
    expect([status, stderr]).toEqual([0, ''])
    expect(times(out)).toBe('10 15 20 25 30 30.1000000m 35')
  })

  test('writes equal instances of the same time once', async () => {
    const part = (name: string): string =>
      make(name, (archive) => {
        archive.addMetric('foo.bar', { pmid: ID, type: PM_TYPE_32, indom: 'd' })
        for (const sec of [1, 2]) {
          archive.put('foo.bar', sec, 'x')
          if (sec === 2) archive.put('foo.bar', sec, 'y')
          archive.write(at(sec))
        }
      })
    const { out } = await extract(part('a'), part('b'))
    expect(values(out)).toHaveLength(4)
    const archive = Archive.open(out, archiveFiles())
    const { metadata } = archive
    expect(metadata.indoms.map((indom) => metadata.snapshots(indom).length)).toEqual([2])
    archive.close()
  })

  test('writes no mark if the collector kept running, unless requested', async () => {
    const logue = (name: string, seconds: readonly number[], seqnum: number): string =>
      make(name, (archive) => {
        const string = { type: PM_TYPE_STRING }
        for (const [item, metric, options] of [
          [3, 'pmcd.pmlogger.host', string],
          [0, 'pmcd.pmlogger.port', { type: PM_TYPE_U32 }],
          [2, 'pmcd.pmlogger.archive', string],
        ] as const)
          archive.addMetric(metric, { pmid: pmid(2, 3, item), ...options })
        archive.addMetric('pmcd.pid', { pmid: pmid(2, 0, 23), type: PM_TYPE_U64 })
        archive.addMetric('pmcd.seqnum', { pmid: pmid(2, 0, 24), type: PM_TYPE_U32 })
        for (const sec of seconds) {
          archive.put('pmcd.pmlogger.host', 'h')
          archive.put('pmcd.pmlogger.port', 1)
          archive.put('pmcd.pmlogger.archive', name)
          archive.put('pmcd.pid', 99)
          archive.put('pmcd.seqnum', seqnum)
          archive.write(at(sec))
        }
      })
    const [a, b, c] = [logue('a', [1, 2], 5), logue('b', [3, 4], 5), logue('c', [5, 6], 6)]
    expect(times((await extract(a, b, c)).out)).toBe('1 2 3 4 4.1000000m 5 6')
    expect(times((await extract('-m', a, b)).out)).toBe('1 2 2.1000000m 3 4')
  })

  test('uses the newest version, or a given one that is not older', async () => {
    const [a, b] = [series('a', [1, 2]), series('b', [3], {}, { version: 3 })]
    const version = (base: string): number => Archive.open(base, archiveFiles()).label.version
    expect(version((await extract(a)).out)).toBe(2)
    const both = await extract(a, b)
    expect([version(both.out), times(both.out)]).toEqual([3, '1 2 2.1000000m 3'])
    expect(values(both.out)).toEqual(['foo.bar[-1]=1', 'foo.bar[-1]=2', '', 'foo.bar[-1]=3'])
    expect(version((await extract('-V', '3', a)).out)).toBe(3)
    expect((await extract('-V', '2', b)).stderr).toBe(
      'pmlogextract: Error: input archive version must be no more than 2\narchive: DIR/b version: 3\nArchive "DIR/out4" not created.\n',
    )
  })

  test('refuses other hosts, and uses the zone of the last input or, with -f, the first', async () => {
    const [a, b] = [series('a', [1]), series('b', [2], {}, { timezone: 'EST-10' })]
    const zone = (base: string): string => Archive.open(base, archiveFiles()).label.timezone
    const { stderr, out } = await extract(a, b)
    expect(zone(out)).toBe('EST-10')
    expect(stderr).toBe(
      'pmlogextract: Warning: timezone mismatch for input archives\n' +
        'archive: DIR/b timezone: EST-10 [will be used]\narchive: DIR/a timezone: UTC [will be ignored]\n',
    )
    expect(zone((await extract('-f', a, b)).out)).toBe('UTC')
    const other = await extract(a, series('c', [3], {}, { hostname: 'other' }))
    expect(other.status).toBe(1)
    expect(other.stderr).toContain('Error: host name mismatch for input archives\narchive: DIR/a host: h\n')
  })

  test.each([
    ['type', { type: PM_TYPE_U32 }, 'metric foo.bar: type changed from 32 to U32!'],
    ['semantics', { sem: 1 }, 'metric foo.bar: semantics changed from instant to counter!'],
    ['meaning', { sem: 0 }, 'metric foo.bar: semantics changed from instant to unknown (0)!'],
    ['units', { units: 'byte' }, 'metric foo.bar: units changed from  to byte!'],
    ['PMID', { pmid: pmid(60, 1, 3) }, 'metric foo.bar: PMID changed from 60.1.1 to 60.1.3!'],
  ])('refuses or skips a metric with another %s', async (_, metric, message) => {
    const [a, b] = [series('a', [1]), series('b', [2], metric)]
    expect((await extract(a, b)).stderr).toBe(
      `pmlogextract: Error: ${message}\nArchive "DIR/out1" not created.\n`,
    )
    expect((await extract('-x', a, b)).stderr).toContain(`pmlogextract: Warning: ${message}\n`)
  })
})

describe('selecting', () => {
  const wide = (): string =>
    make('wide', (archive) => {
      archive.addMetric('top.one', { indom: 'd' })
      archive.addMetric('top.text', { type: PM_TYPE_STRING })
      archive.addMetric('other', { type: PM_TYPE_32 })
      archive.addText('top.one', 'oneline', 'One')
      archive.addLabels({ a: 1 })
      for (let i = 0; i < 3; i++) {
        for (const name of ['x', 'y', 'z z']) archive.put('top.one', i, name)
        archive.put('top.text', `text ${i}`)
        archive.put('other', i)
        archive.write(at(100 + i))
      }
    })
  const config = (text: string): string => {
    writeFileSync(join(dir, 'config'), text)
    return join(dir, 'config')
  }

  test('extracts metrics, subtrees and instances', async () => {
    const input = wide()
    expect(values((await extract('-c', config('other\n'), input)).out)).toEqual([
      'other[-1]=0',
      'other[-1]=1',
      'other[-1]=2',
    ])
    const subtree = await extract('-c', config('# all below\ntop'), input)
    expect(values(subtree.out)[1]).toBe('top.one[0]=1 top.one[1]=1 top.one[2]=1 top.text[-1]=text 1')
    const some = await extract('-c', config('top.one [ "z z", 0 ]\n'), input)
    expect(values(some.out)).toEqual([
      'top.one[2]=0 top.one[0]=0',
      'top.one[2]=1 top.one[0]=1',
      'top.one[2]=2 top.one[0]=2',
    ])
    const { metadata } = Archive.open(some.out, archiveFiles())
    const [id] = metadata.descs.keys()
    expect(metadata.text({ kind: 'metric', id: id!, level: 'oneline' })).toBe('One')
    expect(metadata.labels({ level: 1, id: 0xffffffff }, undefined)[0]?.json).toBe('{"a":1}')
    expect(metadata.descs.size).toBe(1)
  })

  test('reports unknown names and syntax errors of a configuration', async () => {
    const input = wide()
    const { stderr, status } = await extract('-c', config('no.such\ntop.one [ w, 7 ]\nother\n'), input)
    expect(status).toBe(0)
    expect(stderr.replaceAll('DIR/config', 'F')).toBe(
      'Warning [F, line 2]\nProblem with lookup for metric "no.such" ... metric ignored\nReason: Unknown metric name\n' +
        'Warning [F, line 2]\nInstance "w" is not defined for the metric "top.one"\n' +
        'Warning [F, line 2]\nInstance "7" is not defined for the metric "top.one"\n' +
        'Warning [F, line 2]\nNone of the instances for metric "top.one" are valid, metric not extracted\n',
    )
    for (const [text, message] of [
      ['other [ ]', '[line 1] syntax error'],
      ['other [\n', '[line 2] syntax error'],
      ['other\nthis?', "[line 2] Unexpected character '?'"],
    ] as const) {
      const wrong = await extract('-c', config(text), input)
      expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining(message) })
    }
    expect((await extract('-c', config('no.such'), input)).stderr).toContain('selects no metric')
  })

  test('extracts a time window, of one day or of each', async () => {
    const days = series(
      'days',
      Array.from({ length: 72 }, (_, i) => 864_000 + i * 3600),
    )
    expect(times((await extract('-S', '+1hour', '-T', '+3hour', days)).out)).toBe(
      '867600 871200 874800 878400',
    )
    expect(times((await extract('-w', '-S', '@10:00', '-T', '@11:30', days)).out)).toBe(
      '900000 903600 903600.1000000m 986400 990000 990000.1000000m 1072800 1076400',
    )
    expect(await extract('-S', '+0.5sec', '-T', '+1sec', days)).toMatchObject({
      status: 1,
      stderr: 'pmlogextract: Warning: no qualifying records found.\nArchive "DIR/out3" not created.\n',
    })
  })

  test('stops after a number of records, and begins volumes', async () => {
    const input = series('long', [1, 2, 3, 4, 5, 6, 7])
    expect(times((await extract('-s', '3', input)).out)).toBe('1 2 3')
    const { stderr, out } = await extract('-v', '3', '-Z', 'UTC', input)
    expect(stderr).toBe(
      'pmlogextract: New log volume 1, at 00:00:04.000000000\npmlogextract: New log volume 2, at 00:00:07.000000000\n',
    )
    expect([times(out), existsSync(`${out}.2`)]).toEqual(['1 2 3 4 5 6 7', true])
    expect((await extract('-v', '2sec', '-Z', 'UTC', input)).stderr.split('\n').length).toBe(4)
    expect((await extract('-v', '200b', '-Z', 'UTC', input)).stderr.split('\n').length).toBe(4)
  })
})

describe('an existing archive', () => {
  test('is never overwritten, and no files are left behind', async () => {
    const input = series('in', [1])
    writeFileSync(join(dir, 'out1.meta'), 'mine')
    expect(await extract(input)).toMatchObject({
      status: 1,
      stderr:
        '__pmLogNewFile: "DIR/out1.meta" already exists, not over-written\npmlogextract: Error: __pmLogCreate: File exists\n',
    })
    expect(readdirSync(dir).sort()).toEqual(['in.0', 'in.index', 'in.meta', 'out1.meta'])
  })

  test('is read up to its damage', async () => {
    const input = series('in', [1, 2, 3])
    truncateSync(`${input}.0`, 132 + 40 + 40 + 20)
    const { status, stderr, out } = await extract(input)
    expect([status, times(out)]).toEqual([0, '1 2'])
    expect(stderr).toBe(
      'pmlogextract: Error: __pmLogRead[log DIR/in]: Corrupted record in a PCP archive log\n' +
        'pmlogextract: Error occurred at byte offset 212 into a file of 232 bytes.\n' +
        'The last record, and the remainder of this file will not be extracted.\n',
    )
  })

  test('--replace removes inputs that were read, including those cut short by a crash', async () => {
    const input = series('in', [1, 2, 3])
    truncateSync(`${input}.0`, 132 + 40 + 40 + 20)
    const { status, out } = await extract('--replace', input)
    expect([status, times(out)]).toEqual([0, '1 2'])
    expect(readdirSync(dir).filter((name) => name.startsWith('in.'))).toEqual([])
  })

  test.each([
    ['record in the middle', (input: string): void => spoil(`${input}.0`, 132 + 40)],
    [
      'label of a later volume',
      (input: string): void => writeFileSync(`${input}.1`, 'spoilt label'.repeat(20)),
    ],
  ])('--replace keeps inputs with a damaged %s', async (_, damage) => {
    const input = series('in', [1, 2, 3])
    damage(input)
    const before = readdirSync(dir).sort()
    const { status, stderr } = await extract('--replace', input)
    expect([status, readdirSync(dir).sort()]).toEqual([1, before])
    expect(stderr).toContain('cannot replace archives that are not completely readable: DIR/in')
  })

  test('is skipped if it is empty, and an error if it is missing', async () => {
    const input = series('in', [1])
    for (const part of ['0', 'meta', 'index']) writeFileSync(join(dir, `empty.${part}`), '')
    const { status, stderr } = await extract(join(dir, 'empty'), input)
    expect([status, stderr]).toEqual([
      0,
      'pmlogextract: Warning: empty archive "DIR/empty" will be skipped\n',
    ])
    expect((await extract(join(dir, 'empty'))).status).toBe(1)
    expect((await extract(input, join(dir, 'none'))).stderr).toBe(
      'pmlogextract: Error: cannot open archive "DIR/none": No such file or directory\n',
    )
  })

  test('loses values without descriptor, with a warning', async () => {
    const base = join(dir, 'raw')
    const { ArchiveWriter } = await import('../../../src/archive/write/writer.ts')
    const writer = ArchiveWriter.create(archiveOutput(base), { hostname: 'h', timezone: 'UTC', pid: 7 })
    writer.desc({ pmid: ID, type: PM_TYPE_32, indom: 0xffffffff, sem: 3, units: 0 }, ['foo.bar'])
    writer.result(at(1), [makeSingular(ID, PM_TYPE_32, 1), makeSingular(ID + 1, PM_TYPE_32, 2)])
    writer.close()
    const { stderr, out } = await extract(base)
    expect(stderr).toContain('metric 60.1.2 has no descriptor')
    expect(values(out)).toEqual(['foo.bar[-1]=1'])
  })
})
