import { describe, expect, test } from 'vitest'
import { ArchiveFollower, type FollowOptions } from '../../../src/archive/follow/follower.ts'
import { ArchiveWriter, type WriterOptions } from '../../../src/archive/write/writer.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { PM_INDOM_NULL } from '../../../src/model/ids.ts'
import { makeLabelSet } from '../../../src/model/label-set.ts'
import { LABEL_CONTEXT } from '../../../src/model/labels.ts'
import { PM_SEM_COUNTER, PM_TYPE_U64 } from '../../../src/model/types.ts'
import { makeSet, makeSingular } from '../../../src/model/value-writer.ts'
import { emptySet } from '../../../src/model/values.ts'
import { GrowingFiles, recordedOutput } from './growing-files.ts'

const PMID = 0x0a000401
const OTHER = 0x0a000402
const INDOM = 0x0a000007
const at = (sec: number): { sec: number; nsec: number } => ({ sec, nsec: 0 })
const desc = (pmid: number, indom: number) => ({
  pmid,
  type: PM_TYPE_U64,
  indom,
  sem: PM_SEM_COUNTER,
  units: 0,
})
const single = (value: bigint) => makeSingular(PMID, PM_TYPE_U64, value)
const pair = (...ids: number[]) => makeSet(OTHER, PM_TYPE_U64, ids, ids.map(BigInt))

/** Writes two volumes with a mark, with metadata that appears and changes later. */
function writeSample(output: ReturnType<typeof recordedOutput>, options: Partial<WriterOptions> = {}): void {
  const writer = ArchiveWriter.create(output, { hostname: 'h', timezone: 'UTC', pid: 7, ...options })
  writer.desc(desc(PMID, PM_INDOM_NULL), ['a.single', 'a.alias'])
  writer.text({ kind: 'metric', id: PMID, level: 'oneline' }, 'one line')
  writer.labels(at(10), LABEL_CONTEXT, 0, [makeLabelSet({ hostname: 'h' }, LABEL_CONTEXT)])
  writer.result(at(10), [single(1n)])
  writer.result(at(11), [single(2n)])
  writer.desc(desc(OTHER, INDOM), ['a.many'])
  writer.instances(at(12), INDOM, [1, 2], ['one', 'two'])
  writer.result(at(12), [single(3n), pair(1, 2)])
  writer.mark(at(13))
  writer.switchVolume(at(14))
  writer.instances(at(14), INDOM, [2, 3], ['two', 'three'])
  writer.result(at(14), [single(4n), pair(2, 3)])
  writer.labels(at(15), LABEL_CONTEXT, 0, [makeLabelSet({ hostname: 'h', rack: '7' }, LABEL_CONTEXT)])
  writer.result(at(15), [single(5n)])
  writer.close()
}

const EXPECTED = [
  'metric a.single,a.alias',
  'text one line',
  'labels {"hostname":"h"}',
  'record 10',
  'record 11',
  'metric a.many',
  'instances one,two',
  'record 12 one two',
  'mark 13',
  'instances two,three',
  'record 14 two three',
  'labels {"hostname":"h","rack":"7"}',
  'record 15',
]

/** The same from a finished archive: descriptors have no time, so this one does not wait for the records before it. */
const AT_ONCE = [
  ...EXPECTED.slice(0, 3),
  'metric a.many',
  ...EXPECTED.slice(3).filter((line) => line !== 'metric a.many'),
]

function step(follower: ArchiveFollower): string | undefined {
  const item = follower.next()
  if (item === undefined) return undefined
  if (item.kind === 'metric') return `metric ${item.names.join()}`
  if (item.kind === 'text') return `text ${item.text}`
  if (item.kind === 'labels') return `labels ${item.sets[0]!.json}`
  if (item.kind === 'mark') return `mark ${item.at.sec}`
  if (item.kind === 'lost') return `lost ${item.problem.message}`
  const names = follower.metadata.indoms.get(INDOM)
  if (item.kind === 'instances') return `instances ${[...names!.values()].join()}`
  const { record } = item
  const s = record.find(OTHER)
  for (const pmid of record.pmids.subarray(0, record.count))
    if (!follower.metadata.metrics.has(pmid)) throw new Error(`unknown metric ${pmid}`)
  const own =
    s < 0 || record.statuses[s]! <= 0 ? [] : [...record.toSet(s).inst].map((inst) => names!.get(inst))
  return ['record', record.sec, ...own].join(' ')
}

function drain(follower: ArchiveFollower): string[] {
  const found: string[] = []
  for (let one = step(follower); one !== undefined; one = step(follower)) found.push(one)
  return found
}

function sample(options: Partial<WriterOptions> = {}): GrowingFiles {
  const output = recordedOutput('a')
  writeSample(output, options)
  const files = new GrowingFiles()
  for (const { part, bytes } of output.writes) files.append(`a.${part}`, bytes)
  return files
}

const follow = (files: GrowingFiles, from?: FollowOptions['from']): ArchiveFollower =>
  new ArchiveFollower('a', files, from === undefined ? {} : { from })

function codeOf(action: () => unknown): string | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    return PcpError.from(error).code
  }
}

describe.each([2, 3] as const)('version %i', (version) => {
  test('a finished archive is returned in order, metadata before the records that need it', () => {
    expect(drain(follow(sample({ version })))).toEqual(AT_ONCE)
  })

  test('an archive that grows byte by byte gives the same, across restarts after any byte', () => {
    const output = recordedOutput('a')
    writeSample(output, { version })
    const files = new GrowingFiles()
    const live = follow(files)
    const found: string[] = []
    const resumed: string[] = []
    let position: FollowOptions['from']
    const poll = (): void => {
      found.push(...drain(live))
      const restarted = follow(files, position)
      resumed.push(...drain(restarted))
      position = JSON.parse(JSON.stringify(restarted.position ?? null)) ?? undefined
      restarted.close()
    }
    for (const { part, bytes } of output.writes) {
      files.append(`a.${part}`, new Uint8Array(0))
      for (const byte of bytes) {
        files.append(`a.${part}`, Uint8Array.of(byte))
        if (files.names.has('a.meta')) poll()
      }
    }
    expect(found).toEqual(EXPECTED)
    expect(resumed).toEqual(EXPECTED)
    live.close()
    expect(files.opened).toBe(0)
  })
})

test('a follower resumes after each item without losing or repeating records', () => {
  const files = sample()
  const whole = follow(files)
  for (let i = 0; i <= AT_ONCE.length; i++) {
    const resumed = follow(files, whole.position)
    expect(drain(resumed)).toEqual(AT_ONCE.slice(i))
    step(whole)
  }
})

test('a follower from the end knows the metadata and returns only new records', () => {
  const output = recordedOutput('a')
  writeSample(output)
  const files = new GrowingFiles()
  const isLast = (i: number): boolean => i >= output.writes.length - 3
  for (const [i, { part, bytes }] of output.writes.entries()) if (!isLast(i)) files.append(`a.${part}`, bytes)
  files.append('a.1', Uint8Array.of(0, 0))
  const follower = follow(files, 'end')
  expect(drain(follower)).toEqual([])
  expect(follower.metadata.metrics.get(PMID)?.names).toEqual(['a.single', 'a.alias'])
  expect([...follower.metadata.indoms.get(INDOM)!.values()]).toEqual(['two', 'three'])
  files.names.get('a.1')!.bytes = files.names.get('a.1')!.bytes.subarray(0, -2)
  for (const [i, { part, bytes }] of output.writes.entries()) if (isLast(i)) files.append(`a.${part}`, bytes)
  expect(drain(follower)).toEqual(EXPECTED.slice(-2))
})

test('volumes that are compressed or removed while they are read lose nothing', () => {
  const files = sample()
  const follower = follow(files)
  for (let i = 0; i < 5; i++) step(follower)
  files.rename('a.0', 'a.0.xz')
  expect(drain(follower)).toEqual(AT_ONCE.slice(5))
  const removed = follow(files)
  for (let i = 0; i < 5; i++) step(removed)
  files.names.delete('a.0.xz')
  expect(drain(removed)).toEqual(AT_ONCE.slice(5))
})

test('a position in a compressed volume is found, and one in a removed volume is reported', () => {
  const files = sample()
  const first = follow(files)
  for (let i = 0; i < 5; i++) step(first)
  files.rename('a.0', 'a.0.xz')
  expect(drain(follow(files, first.position))).toEqual(AT_ONCE.slice(5))
  files.names.delete('a.0.xz')
  expect(drain(follow(files, first.position))).toEqual([
    'lost a: volume 0 is missing',
    'instances one,two',
    'instances two,three',
    'record 14 two three',
    'labels {"hostname":"h","rack":"7"}',
    'record 15',
  ])
})

test('a torn record at the end of a volume is reported when the next volume has begun', () => {
  const files = sample()
  const volume = files.names.get('a.0')!
  const next = files.names.get('a.1')!
  files.names.delete('a.1')
  volume.bytes = volume.bytes.subarray(0, volume.bytes.length - 6)
  const follower = follow(files)
  expect(drain(follower).filter((line) => /^(record|mark|lost)/.test(line))).toEqual([
    'record 10',
    'record 11',
    'record 12 one two',
  ])
  files.names.set('a.1', next)
  expect(step(follower)).toMatch(/^lost a\.0: the record at byte \d+ is incomplete$/)
  expect(drain(follower)).toEqual(['record 14 two three', 'record 15'])
})

test('damage elsewhere than at the end is an error', () => {
  const files = sample()
  files.names.get('a.0')!.bytes[808 + 3]! ^= 0x40
  const follower = follow(files)
  expect(codeOf(() => drain(follower))).toBe('PM_ERR_LOGREC')
})

test('another archive of the same name is detected, by its label, its size and its records', () => {
  const files = sample()
  const follower = follow(files)
  drain(follower)
  const { position } = follower
  const other = sample({ pid: 8 })
  for (const [name, file] of other.names) files.names.set(name, file)
  expect(codeOf(() => follower.next())).toBe('ESTALE')
  expect(codeOf(() => follow(files, position).next())).toBe('ESTALE')

  const shorter = sample()
  shorter.names.get('a.1')!.bytes = shorter.names.get('a.1')!.bytes.subarray(0, -40)
  expect(codeOf(() => follow(shorter, position).next())).toBe('ESTALE')
  const different = sample()
  expect(codeOf(() => follow(different, { ...position!, offset: position!.offset - 4 }).next())).toBe(
    'ESTALE',
  )
})

test('a removed archive is an error after its last record', () => {
  const files = sample()
  const follower = follow(files)
  step(follower)
  files.names.clear()
  expect(codeOf(() => drain(follower))).toBe('ENOENT')
  expect(codeOf(() => drain(follow(files)))).toBe('ENOENT')
})

test('released files are opened again, and new metadata is read without the old', () => {
  const output = recordedOutput('a')
  const writer = ArchiveWriter.create(output, { hostname: 'h', timezone: 'UTC', pid: 7 })
  const files = new GrowingFiles()
  let done = 0
  const publish = (): void => {
    for (; done < output.writes.length; done++)
      files.append(`a.${output.writes[done]!.part}`, output.writes[done]!.bytes)
  }
  for (let i = 0; i < 5000; i++) writer.desc(desc(0x0b000000 + i, PM_INDOM_NULL), [`b.metric${i}`])
  writer.desc(desc(PMID, PM_INDOM_NULL), ['a.single'])
  writer.result(at(1), [single(1n)])
  publish()
  const follower = follow(files)
  drain(follower)
  expect(files.names.get('a.meta')!.bytes.length).toBeGreaterThan(200_000)
  follower.release()
  expect(files.opened).toBe(0)
  const before = files.bytesRead
  writer.desc(desc(OTHER, INDOM), ['a.many'])
  writer.instances(at(2), INDOM, [1], ['one'])
  writer.result(at(2), [single(2n), pair(1)])
  publish()
  expect(drain(follower)).toEqual(['metric a.many', 'instances one', 'record 2 one'])
  expect(files.bytesRead - before).toBeLessThan(10_000)
})

test('metadata of later times waits while earlier records are read, unless a record needs it', () => {
  const output = recordedOutput('a')
  const writer = ArchiveWriter.create(output, { hostname: 'h', timezone: 'UTC', pid: 7 })
  writer.result(at(1), [emptySet(OTHER, 0)])
  writer.instances(at(5), INDOM, [1], ['one'])
  writer.desc(desc(OTHER, INDOM), ['a.many'])
  writer.instances(at(6), INDOM, [2], ['two'])
  writer.result(at(2), [emptySet(OTHER, 0)])
  writer.result(at(6), [pair(2)])
  const files = new GrowingFiles()
  for (const { part, bytes } of output.writes) files.append(`a.${part}`, bytes)
  expect(drain(follow(files))).toEqual([
    'instances one',
    'metric a.many',
    'record 1',
    'record 2',
    'instances two',
    'record 6 two',
  ])
})
