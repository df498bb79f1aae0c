import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import { ArchiveWriter, type WriterOptions } from '../../../src/archive/write/writer.ts'
import { indom, pmid } from '../../../src/model/ids.ts'
import { makeLabelSet } from '../../../src/model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../../src/model/labels.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_STRING, PM_TYPE_U64 } from '../../../src/model/types.ts'
import { packUnits } from '../../../src/model/units.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSet, makeSingular } from '../../../src/model/value-writer.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { tool } from '../../../src/tools/pmlogrewrite/index.ts'
import { testIo } from '../run-tool.ts'

let top: string
let dir: string
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'pmlogrewrite-'))
})
beforeEach(() => {
  dir = mkdtempSync(join(top, 'case-'))
})
afterAll(() => rmSync(top, { recursive: true }))

const LABEL_CONTEXT_ID = 0xffffffff
const INDOM = indom(60, 1)
const OTHER = indom(60, 2)
const DISKS = pmid(60, 1, 1)
const TOTAL = pmid(60, 1, 2)
const NOTE = pmid(60, 2, 1)
const BYTES = packUnits({ dimSpace: 1, scaleSpace: 1 })
const at = (sec: number): { sec: number; nsec: number } => ({ sec, nsec: 0 })

/** Makes an archive with `disk.bytes` of two disks, `disk.total`, `note`, a text and labels, at 10, 11 and 12 seconds, and a mark at 11.5. */
function sample(
  name: string,
  options: Partial<WriterOptions> = {},
  add: (writer: ArchiveWriter) => void = () => {},
): string {
  const output = archiveOutput(join(dir, name))
  const writer = ArchiveWriter.create(output, {
    version: 3,
    hostname: 'h',
    timezone: 'UTC',
    pid: 7,
    ...options,
  })
  writer.labels(at(10), LABEL_CONTEXT, LABEL_CONTEXT_ID, [
    makeLabelSet({ userid: 5, host: 'h' }, LABEL_CONTEXT),
  ])
  writer.desc({ pmid: DISKS, type: PM_TYPE_U64, indom: INDOM, sem: 1, units: BYTES }, ['disk.bytes'])
  writer.desc({ pmid: TOTAL, type: PM_TYPE_32, indom: 0xffffffff, sem: 3, units: 0 }, ['disk.total'])
  writer.desc({ pmid: NOTE, type: PM_TYPE_STRING, indom: 0xffffffff, sem: 4, units: 0 }, ['note'])
  writer.text({ kind: 'metric', id: DISKS, level: 'oneline' }, 'bytes of a "disk"')
  writer.instances(at(10), INDOM, [1, 2], ['sda first', 'sdb'])
  writer.labels(at(10), LABEL_INSTANCES, INDOM, [makeLabelSet({ bay: 4 }, LABEL_INSTANCES, { inst: 1 })])
  add(writer)
  for (const sec of [10, 11, 12]) {
    if (sec === 12) writer.mark({ sec: 11, nsec: 500_000_000 })
    if (sec === 12) writer.instances(at(12), INDOM, [1, 2, 3], ['sda first', 'sdb', 'sdc'])
    const disks = makeSet(DISKS, PM_TYPE_U64, [1, 2], [sec * 100, sec])
    const note = makeSingular(NOTE, PM_TYPE_STRING, `second ${sec} of user bob`)
    writer.result(at(sec), [disks, makeSingular(TOTAL, PM_TYPE_32, -sec), note])
  }
  writer.close()
  return join(dir, name)
}

interface Rewritten {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  readonly out: string
}

async function rewrite(input: string, rules: string, ...args: string[]): Promise<Rewritten> {
  const config = join(dir, 'rules')
  writeFileSync(config, rules)
  const out = join(dir, 'out')
  const io = testIo('pmlogrewrite', ['-c', config, ...args, input, ...(args.includes('-i') ? [] : [out])])
  const status = await tool.run(io)
  const { stdout, stderr } = io.printed
  return { status, stdout, stderr: stderr.replaceAll(dir, 'DIR'), out }
}

function open<T>(base: string, look: (archive: Archive) => T): T {
  const archive = Archive.open(base, archiveFiles())
  try {
    return look(archive)
  } finally {
    archive.close()
  }
}

/** Returns the values of a metric by record: `time inst=value ...`. */
function values(base: string, id: number): string[] {
  return open(base, (archive) => {
    const reader = new RecordReader(archive)
    const lines: string[] = []
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      const s = record.find(id)
      if (s < 0) continue
      const { type } = archive.metadata.descs.get(id)!
      const all = valuesOf(record.toSet(s), type).map(({ inst, value }) => `${inst}=${value}`)
      lines.push(`${record.sec} ${all.join(' ')}`.trim())
    }
    return lines
  })
}

const instances = (base: string, id: number, sec: number): string[] =>
  open(base, ({ metadata }) => {
    const snapshot = metadata.snapshotAt(id, at(sec))
    return snapshot === undefined ? [] : Array.from(snapshot.ids, (inst, i) => `${inst} ${snapshot.name(i)}`)
  })

/** Returns the contents of an archive's files. */
function contents(base: string): string[] {
  const names = readdirSync(dir).filter((name) => join(dir, name).startsWith(`${base}.`))
  return names
    .sort()
    .map((name) => `${name.slice(name.lastIndexOf('.'))} ${readFileSync(join(dir, name), 'hex')}`)
}

describe.each([2, 3] as const)('version %i', (version) => {
  test('without rules the output is the input, byte for byte', async () => {
    const input = sample('in', { version })
    const { status, stderr, out } = await rewrite(input, '# nothing')
    expect([status, stderr]).toEqual([0, ''])
    expect(contents(out)).toEqual(contents(input))
  })

  test('changes names, PMIDs, types and semantics of metrics, and types of values', async () => {
    const rules = `metric disk.total { name -> total  type -> double  sem -> counter  pmid -> 61.*.* }`
    const { out } = await rewrite(sample('in', { version }), rules)
    const id = pmid(61, 1, 2)
    open(out, ({ metadata }) => {
      expect(metadata.descs.has(TOTAL)).toBe(false)
      expect(metadata.descs.get(id)).toMatchObject({ type: PM_TYPE_DOUBLE, sem: 1 })
      expect(metadata.names.namesOf(id)).toEqual(['total'])
    })
    expect(values(out, id)).toEqual(['10 -1=-10', '11 -1=-11', '12 -1=-12'])
    expect(values(out, DISKS)).toEqual(values(join(dir, 'in'), DISKS))
  })

  test('shifts all times, including marks and the index', async () => {
    const { out } = await rewrite(sample('in', { version }), 'global { time -> -1:00.5 hostname -> web1 }')
    open(out, (archive) => {
      expect(archive.label).toMatchObject({
        hostname: 'web1',
        pid: 7,
        start: { sec: -51, nsec: 500_000_000 },
      })
      expect(archive.end()).toEqual({ sec: -49, nsec: 500_000_000 })
      expect(archive.members[0]!.index!.sec[0]).toBe(-51)
      const reader = new RecordReader(archive)
      const counts: number[] = []
      for (let record = reader.next(); record !== undefined; record = reader.next()) counts.push(record.count)
      expect(counts).toEqual([3, 3, 0, 3])
    })
    expect(instances(out, INDOM, -49)).toEqual(['1 sda first', '2 sdb'])
    expect(instances(out, INDOM, -48)).toHaveLength(3)
  })

  test('changes numbers and names of instances, or removes them with their values and labels', async () => {
    const rules = 'indom 60.1 { inst 1 -> 9 iname "sda" -> "disk one" iname "sdb" -> delete }'
    const { out } = await rewrite(sample('in', { version }), rules)
    expect(instances(out, INDOM, 10)).toEqual(['9 disk one'])
    expect(instances(out, INDOM, 12)).toEqual(['3 sdc', '9 disk one'])
    expect(values(out, DISKS)).toEqual(['10 9=1000', '11 9=1100', '12 9=1200'])
    const sets = open(out, ({ metadata }) =>
      metadata.labels({ level: LABEL_INSTANCES, id: INDOM }, undefined),
    )
    expect(sets).toMatchObject([{ inst: 9, json: '{"bay":4}' }])
  })

  test('an unused instance domain is removed', async () => {
    const { out } = await rewrite(sample('in', { version }), 'metric disk.bytes { indom -> null output sum }')
    expect(open(out, ({ metadata }) => metadata.indoms)).toEqual([])
    expect(values(out, DISKS)).toEqual(['10 -1=1010', '11 -1=1111', '12 -1=1212'])
  })

  test('changes apply to a duplicated domain only', async () => {
    const rules =
      'indom 60.1 { indom -> duplicate 60.2 inst 2 -> delete } metric disk.total { indom -> 60.2 }'
    const { out, stderr } = await rewrite(sample('in', { version }), rules)
    expect(stderr).toBe('')
    expect(instances(out, INDOM, 10)).toEqual(['1 sda first', '2 sdb'])
    expect(instances(out, OTHER, 10)).toEqual(['1 sda first'])
    expect(values(out, TOTAL)[0]).toBe('10 0=-10')
  })
})

test.each([
  ['first', '1=1000'],
  ['last', '2=10'],
  ['min', '2=10'],
  ['max', '1=1000'],
  ['sum', '0=1010'],
  ['avg', '0=505'],
  ['inst 2', '2=10'],
  ['iname "sda"', '1=1000'],
  ['inst 77', ''],
])('OUTPUT %s selects or aggregates values', async (pick, expected) => {
  const rules = `indom 60.1 { indom -> duplicate 60.2 } metric disk.bytes { indom -> 60.2 output ${pick} }`
  const { out } = await rewrite(sample('in'), rules)
  expect(values(out, DISKS)[0]).toBe(`10 ${expected}`.trim())
})

test('a rule for a whole instance name leaves instances with the same first word unchanged', async () => {
  const mounts = (writer: ArchiveWriter): void => {
    writer.instances(at(10), OTHER, [1, 2, 3], ['/my disk', '/my other', '/z'])
    writer.desc({ pmid: pmid(60, 3, 1), type: PM_TYPE_32, indom: OTHER, sem: 3, units: 0 }, ['free'])
    writer.result(at(10), [makeSet(pmid(60, 3, 1), PM_TYPE_32, [1, 2], [10, 20])])
  }
  const namesAfter = async (rules: string): Promise<unknown> => {
    const { status, stderr, out } = await rewrite(sample('in', {}, mounts), rules)
    expect([status, stderr]).toEqual([0, ''])
    const instances = open(out, ({ metadata }) => metadata.instances(OTHER, undefined, undefined))
    rmSync(dir, { recursive: true })
    mkdirSync(dir)
    return Object.fromEntries(instances.ids.map((id, i) => [id, instances.names[i]]))
  }
  expect(await namesAfter('indom 60.2 { iname "/my other" -> "/b" }')).toEqual({
    1: '/my disk',
    2: '/b',
    3: '/z',
  })
  expect(await namesAfter('indom 60.2 { iname "/my other" -> delete }')).toEqual({ 1: '/my disk', 3: '/z' })
  expect(await namesAfter('indom 60.2 { iname "/my" -> delete }')).toEqual({ 3: '/z' })
})

test('the average of integers is rounded', async () => {
  const { out } = await rewrite(sample('in'), 'metric disk.bytes { indom -> null output avg }')
  expect(values(out, DISKS)).toEqual(['10 -1=505', '11 -1=556', '12 -1=606'])
})

test('units change with or without the values', async () => {
  const input = sample('in')
  const rule = 'metric disk.bytes { units -> 1,0,0,BYTE,0,0'
  await rewrite(input, `${rule} }`)
  expect(values(join(dir, 'out'), DISKS)[0]).toBe('10 1=1000 2=10')
  for (const name of readdirSync(dir).filter((one) => one.startsWith('out'))) rmSync(join(dir, name))
  await rewrite(input, `${rule} rescale }`)
  expect(values(join(dir, 'out'), DISKS)[0]).toBe('10 1=1024000 2=10240')
})

test('patterns replace parts of values and of names', async () => {
  const rules = String.raw`metric note { value replace /user ([a-z]+)/ -> "\1 & $1" }
    indom 60.1 { iname replace /^sd([[:alpha:]])/ -> "disk_\1" }`
  const { out } = await rewrite(sample('in'), rules)
  expect(values(out, NOTE)[0]).toBe('10 -1=second 10 of bob user bob $1')
  expect(instances(out, INDOM, 12)).toEqual(['1 disk_a first', '2 disk_b', '3 disk_c'])
})

test('names of instances are redacted', async () => {
  const { out } = await rewrite(sample('in'), 'indom 60.* { iname redact }')
  expect(instances(out, INDOM, 12)).toEqual(['1 sda [redacted]', '2 sdb [redacted]', '3 sdc [redacted]'])
})

test('texts are replaced, moved and deleted', async () => {
  const text = (id: number) =>
    open(join(dir, 'out'), ({ metadata }) => metadata.text({ kind: 'metric', id, level: 'oneline' }))
  await rewrite(
    sample('in'),
    'text metric 60.1.* * "\\"disk\\"" { text -> "new\n\\"text\\"" metric -> 60.9.* }',
  )
  expect([text(DISKS), text(pmid(60, 9, 1))]).toEqual([undefined, 'new\n"text"'])
  for (const name of readdirSync(dir).filter((one) => one.startsWith('out'))) rmSync(join(dir, name))
  await rewrite(join(dir, 'in'), 'text metric disk.bytes { delete }')
  expect(text(DISKS)).toBe(undefined)
})

test('labels are added, changed and deleted', async () => {
  const rules = `label context "userid" { delete }
    label context "host" "h" { label -> "node" value -> "n1" }
    label context { new "site" "north" }
    label instances 60.1 2 { new "bay" "5" }
    label item disk.total { new "kind" "sum" }`
  const { out, stderr } = await rewrite(sample('in'), rules)
  expect(stderr).toBe('')
  open(out, ({ metadata }) => {
    const json = (level: number, id: number) =>
      metadata.labels({ level, id }, undefined).map((set) => `${set.inst} ${set.json}`)
    expect(json(LABEL_CONTEXT, LABEL_CONTEXT_ID)).toEqual(['-1 {"node":"n1","site":"north"}'])
    expect(json(LABEL_INSTANCES, INDOM)).toEqual(['1 {"bay":4}', '2 {"bay":"5"}'])
    expect(json(16, TOTAL)).toEqual(['-1 {"kind":"sum"}'])
  })
})

test('context labels are found for any id in the record', async () => {
  const input = sample('in')
  const meta = readFileSync(`${input}.meta`)
  // After the time and the level of the first record, which has the context labels.
  meta.writeUInt32BE(0, meta.readInt32BE(0) + 24)
  writeFileSync(`${input}.meta`, meta)
  const { out, stderr } = await rewrite(input, 'label context "userid" { delete }', '-w')
  expect(stderr).toBe('')
  const json = open(
    out,
    ({ metadata }) => metadata.labels({ level: LABEL_CONTEXT, id: 9 }, undefined)[0]?.json,
  )
  expect(json).toBe('{"host":"h"}')
})

test('label values are any JSON values except arrays and objects', async () => {
  const rules = `label context "userid" 5 { value -> null }
    label context "host" 5 { value -> "not this one" }
    label item note { new "text" "a \\"b\\" \\u00e9" new "number" -123.456e+789 new "yes" TRUE new "no" false new "none" null }
    label instances 60.1 1 "bay" 4 { label -> "slot" value -> 4.5 }`
  const { out, stderr, stdout } = await rewrite(sample('in'), rules, '-v')
  expect(stderr).toBe('')
  expect(stdout).toContain('Label: Context, Label: "userid", Value: 5\nValue:\t\t5 -> null\n')
  open(out, ({ metadata }) => {
    const json = (level: number, id: number) =>
      metadata.labels({ level, id }, undefined).map((set) => `${set.inst} ${set.json}`)
    expect(json(LABEL_CONTEXT, 0)).toEqual(['-1 {"host":"h","userid":null}'])
    const note = '{"no":false,"none":null,"number":-123.456e+789,"text":"a \\"b\\" \\u00e9","yes":true}'
    expect(json(LABEL_ITEM, NOTE)).toEqual([`-1 ${note}`])
    expect(json(LABEL_INSTANCES, INDOM)).toEqual(['1 {"slot":4.5}'])
  })
  for (const value of ['007', '{', 'yes', '1.', '->'])
    expect((await rewrite(join(dir, 'in'), `label context { new "a" ${value} }`, '-q')).stderr).toContain(
      'Expecting new label value string in new clause',
    )
})

test('a duplicated domain is kept, even if all its metrics use the copy', async () => {
  const rules = `indom 60.1 { indom -> duplicate 60.2 } metric disk.bytes { indom -> 60.2 }`
  const { out } = await rewrite(sample('in'), rules)
  expect(instances(out, INDOM, 12)).toHaveLength(3)
  expect(instances(out, OTHER, 12)).toHaveLength(3)
})

test('labels of domains and clusters follow their metrics', async () => {
  const labelled = (name: string): string =>
    sample(name, {}, (writer) => {
      for (const id of [60, 61])
        writer.labels(at(10), LABEL_DOMAIN, id, [makeLabelSet({ agent: id }, LABEL_DOMAIN)])
      for (const id of [pmid(60, 1, 0), pmid(60, 2, 0), pmid(60, 9, 0)])
        writer.labels(at(10), LABEL_CLUSTER, id, [makeLabelSet({ cluster: id }, LABEL_CLUSTER)])
    })
  const found = (base: string, level: number, ...ids: number[]): (string | undefined)[] =>
    open(base, ({ metadata }) => ids.map((id) => metadata.labels({ level, id }, undefined)[0]?.json))
  const all = await rewrite(labelled('in'), 'metric 60.*.* { pmid -> 127.*.* }', '-v')
  expect(all.stdout).toContain('Label: Domain 60\nID:\t\tDomain 60 -> Domain 127\n')
  expect(found(all.out, LABEL_DOMAIN, 60, 61, 127)).toEqual([undefined, '{"agent":61}', '{"agent":60}'])
  const moved = `{"cluster":${pmid(60, 1, 0)}}`
  expect(found(all.out, LABEL_CLUSTER, pmid(60, 1, 0), pmid(127, 1, 0))).toEqual([undefined, moved])
  expect(found(all.out, LABEL_CLUSTER, pmid(60, 9, 0))).toEqual([`{"cluster":${pmid(60, 9, 0)}}`])
  // Only some of the metrics move: both clusters have the labels.
  for (const name of ['out.0', 'out.index', 'out.meta']) rmSync(join(dir, name))
  const part = await rewrite(join(dir, 'in'), 'metric disk.bytes { pmid -> 127.3.4 } metric note { delete }')
  expect(found(part.out, LABEL_DOMAIN, 60, 127)).toEqual(['{"agent":60}', '{"agent":60}'])
  expect(found(part.out, LABEL_CLUSTER, pmid(60, 1, 0), pmid(127, 3, 0))).toEqual([moved, moved])
  const kept = `{"cluster":${pmid(60, 2, 0)}}`
  expect(found(part.out, LABEL_CLUSTER, pmid(60, 2, 0), pmid(127, 2, 0))).toEqual([kept, undefined])
  // Labels without metrics can be selected too.
  for (const name of ['out.0', 'out.index', 'out.meta']) rmSync(join(dir, name))
  const rules = 'label domain 61 { domain -> 62 } label cluster 60.9 { cluster -> 60.10 }'
  const others = await rewrite(join(dir, 'in'), rules)
  expect(found(others.out, LABEL_DOMAIN, 61, 62)).toEqual([undefined, '{"agent":61}'])
  expect(found(others.out, LABEL_CLUSTER, pmid(60, 9, 0))).toEqual([undefined])
})

test.each(['plain', 'compressed'])(
  'texts move with their metrics, also those of metadata that is %s',
  async (how) => {
    const input = sample('in')
    if (how === 'compressed') {
      writeFileSync(`${input}.meta.gz`, gzipSync(readFileSync(`${input}.meta`)))
      rmSync(`${input}.meta`)
    }
    const { out } = await rewrite(input, 'metric disk.bytes { pmid -> 127.1.1 }')
    const text = (id: number): string | undefined =>
      open(out, ({ metadata }) => metadata.text({ kind: 'metric', id, level: 'oneline' }))
    expect([text(DISKS), text(pmid(127, 1, 1))]).toEqual([undefined, 'bytes of a "disk"'])
  },
)

test('-V 3 converts version 2, but not back', async () => {
  const { out } = await rewrite(sample('in', { version: 2 }), 'global { zoneinfo -> ":UTC" }', '-V', '3')
  open(out, ({ label }) => expect(label).toMatchObject({ version: 3, zoneinfo: ':UTC' }))
  expect(values(out, DISKS)).toEqual(values(join(dir, 'in'), DISKS))
  expect(instances(out, INDOM, 12)).toHaveLength(3)
  // Of two snapshots the second is now a delta, which is shorter.
  expect(readFileSync(`${out}.meta`).includes('sdb', readFileSync(`${out}.meta`).indexOf('sdb') + 1)).toBe(
    false,
  )
  const { status, stderr } = await rewrite(sample('in3'), '', '-V', '2')
  expect([status, stderr]).toEqual([1, 'pmlogrewrite: Error: cannot create a v2 archive from v3 (DIR/in3)\n'])
})

test('-i replaces the input', async () => {
  const input = sample('in')
  const { status } = await rewrite(input, 'metric note { delete }', '-i')
  expect(status).toBe(0)
  expect(values(input, NOTE)).toEqual([])
  expect(values(input, DISKS)).toHaveLength(3)
  expect(readdirSync(dir).sort()).toEqual(['in.0', 'in.index', 'in.meta', 'rules'])
})

test('-i leaves a damaged input alone', async () => {
  const input = sample('in')
  const { length } = readFileSync(`${input}.0`)
  truncateSync(`${input}.0`, length - 6)
  const before = contents(input)
  const { status, stderr } = await rewrite(input, 'metric note { delete }', '-i', '-d')
  expect(status).toBe(1)
  expect(stderr).toContain(`into a file of ${length - 6} bytes`)
  expect(contents(input)).toEqual(before)
  expect(readdirSync(dir)).toHaveLength(4)
})

test('a failed conversion or damaged input leaves no output; -d keeps the good part', async () => {
  const input = sample('in')
  const failed = await rewrite(input, 'metric disk.total { type -> u32 }')
  expect(failed.status).toBe(1)
  expect(failed.stderr).toContain('disk.total (60.1.2): extracting value from type 32 to U32: Negative value')
  truncateSync(`${input}.0`, readFileSync(`${input}.0`).length - 6)
  expect((await rewrite(input, '')).status).toBe(1)
  expect(readdirSync(dir).filter((name) => name.includes('out'))).toEqual([])
  expect((await rewrite(input, '', '-d')).stderr).toContain('creation truncated')
  expect(values(join(dir, 'out'), DISKS)).toHaveLength(2)
})

test('-q writes nothing without changes, and no archive is overwritten', async () => {
  const input = sample('in')
  const quiet = await rewrite(
    input,
    'metric nosuch { delete } metric note { sem -> discrete } global { hostname -> h }',
    '-q',
  )
  expect([quiet.status, existsSync(`${quiet.out}.meta`)]).toEqual([0, false])
  await rewrite(input, '')
  const again = await rewrite(input, '')
  expect(again.status).toBe(1)
  expect(again.stderr).toContain('__pmLogNewFile: "DIR/out.index" already exists, not over-written')
})

test('-C shows the effect of rules, and reports those without any', async () => {
  const rules = 'metric 60.1.* { type if 32 -> 64 }\nindom 60.1 { inst 1 -> 8 }\nmetric nosuch { delete }'
  const { status, stdout, stderr, out } = await rewrite(sample('in'), rules, '-C')
  expect(status).toBe(0)
  expect(stderr).toBe(
    'Warning [DIR/rules, line 1]\nMetric: disk.bytes (60.1.1): type: PM_TYPE_U64: No conditional change to PM_TYPE_64\n' +
      'Warning [DIR/rules, line 3]\nMetric: nosuch: Unknown metric name\n',
  )
  expect(stdout).toBe(
    'PCP Archive Log Rewrite Specifications Summary\n\nInstance Domain: 60.1\nInstance:\t[1] "sda first" -> [8] "sda first"\n' +
      '\nMetric: disk.bytes (60.1.1)\nInst Changes:\t<- InDom 60.1\n\nMetric: disk.total (60.1.2)\nType:\t\t32 -> 64\n',
  )
  expect(existsSync(`${out}.meta`)).toBe(false)
})

test.each([
  ['foo', 1, 'syntax error'],
  ['global {\n hostname\n}', 3, 'Expecting -> in hostname clause'],
  ['global { hostname -> a\nhostname -> b }', 2, 'Duplicate global hostname clause'],
  ['global { time -> 1:2:3:4 }', 1, 'Expecting delta of the form [+-][HH:[MM:]]SS[.d...] in time clause'],
  ['indom 600.1 { }', 1, 'Illegal domain field (600) for indom'],
  [
    'indom 60.1 { inst 1 -> 5\ninst 1 -> delete }',
    2,
    'Duplicate or conflicting clauses for instance [1] "sda first" of indom 60.1',
  ],
  ['metric note { type -> 32 }', 1, 'Old type (PM_TYPE_STRING) must be numeric'],
  ['metric note { delete name -> x }', 1, 'Conflicting name clause for deleted metric note'],
  ['metric note { name -> disk.total }', 1, 'Metric name disk.total already assigned for PMID 60.1.2'],
  ['metric note { name -> a.* }', 1, "Unexpected character '*'"],
  ['metric note { value replace /(/ -> "" }', 1, 'Bad regular expression "(" in value clause'],
  ['text metric note "x', 1, 'String without closing quote'],
  ['label context "userid" { delete label -> "x" }', 1, ''],
])('refuses %j', async (rules, line, text) => {
  const { status, stderr, out } = await rewrite(sample('in'), rules)
  expect(status).toBe(1)
  expect(stderr).toContain(`Specification error in configuration file (DIR/rules)\n[line ${line}] ${text}`)
  expect(existsSync(`${out}.meta`)).toBe(false)
})

test.each([
  [
    'metric disk.bytes { indom -> 60.9 }',
    'New indom (60.9) for metric disk.bytes is not in the output archive',
  ],
  ['indom 60.1 { inst 1 -> 2 }', 'Duplicate instance id 2 ("sda first" and "sdb") for indom 60.1'],
  [
    'indom 60.1 { iname "sda" -> "sdb x" }',
    'Duplicate instance name "sdb x" (1) and "sdb" (2) for indom 60.1',
  ],
  [
    'indom 60.1 { indom -> 60.7 } metric disk.bytes { indom -> 60.8 }',
    'Conflicting indom change for metric disk.bytes (60.8 from metric clause, 60.7 from indom clause)',
  ],
])('refuses an impossible rule: %s', async (rules, text) => {
  const { status, stderr } = await rewrite(sample('in'), rules)
  expect([status, stderr]).toEqual([1, `Semantic error in configuration file (DIR/rules)\n${text}\n`])
})
