/** A writer whose disk fails at each operation in turn: every acknowledged record is there exactly once, and no other. */
import { describe, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import { ArchiveWriter } from '../../../src/archive/write/writer.ts'
import { isError } from '../../../src/model/errors.ts'
import { indom as makeIndom, pmid as makePmid } from '../../../src/model/ids.ts'
import { makeLabelSet } from '../../../src/model/label-set.ts'
import { PM_TYPE_U32 } from '../../../src/model/types.ts'
import { extract } from '../../../src/model/value-set.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { type DiskCall, type DiskFault, MemoryDisk } from '../../lib/memory-disk.ts'
import { filesOf } from '../../lib/memory-files.ts'

const PMID = makePmid(245, 0, 1)
const INDOM = makeIndom(245, 1)
const RECORDS = 24
const BASE = '/a'

interface Run {
  readonly disk: MemoryDisk
  /** Values whose records were acknowledged, in order. */
  readonly written: readonly number[]
  /** Operations that threw. */
  readonly failures: number
  /** Whether an archive was started. */
  readonly isBegun: boolean
  readonly changes: number
}

/** Writes as a recorder does: failed records are lost, their metadata is written with the next one. */
async function record(fault: (call: DiskCall) => DiskFault | undefined): Promise<Run> {
  const disk = new MemoryDisk({ fault })
  const written: number[] = []
  let failures = 0
  const attempt = <T>(action: () => T): T | undefined => {
    try {
      return action()
    } catch {
      failures++
      return undefined
    }
  }
  const output = archiveOutput(BASE, { disk, sync: true })
  const writer = attempt(() => ArchiveWriter.create(output, { hostname: 'h', timezone: 'UTC', pid: 7 }))
  if (writer === undefined) return { disk, written, failures, isBegun: false, changes: disk.changes }
  let isDescribed = false
  for (let i = 0; i < RECORDS; i++) {
    const at = { sec: 1000 + i, nsec: 0 }
    attempt(() => {
      if (!isDescribed) {
        writer.desc({ pmid: PMID, type: PM_TYPE_U32, indom: INDOM, sem: 3, units: 0 }, ['a.b'])
        isDescribed = true
      }
      const ids = [Math.floor(i / 5), 100]
      if (writer.instances(at, INDOM, ids, ids.map(nameOf)))
        writer.labels(at, 32, INDOM, [makeLabelSet({ i: ids[0]! }, 32, { inst: ids[0]! })])
      writer.result(at, [makeSet(PMID, PM_TYPE_U32, [ids[0]!], [i])])
      written.push(i)
    })
    if (i % 8 === 7) attempt(() => writer.switchVolume(at))
    if (i % 6 === 5) await writer.sync().catch(() => failures++)
    if (i === 13) attempt(() => writer.mark())
  }
  attempt(() => writer.close())
  return { disk, written, failures, isBegun: true, changes: disk.changes }
}

const nameOf = (id: number): string => `instance-${id}`

/** Returns the problems of the resulting files, as found by a reader without faults. */
function problemsOf({ disk, written, isBegun }: Run): string[] {
  const image = new MemoryDisk({ image: disk.image() })
  if (!isBegun) return image.list('/').map((name) => `${name} is left`)
  if (written.length === 0) return []
  const problems: string[] = []
  const found: number[] = []
  const archive = Archive.open(BASE, filesOf(image), { onWarning: ({ message }) => problems.push(message) })
  const reader = new RecordReader(archive)
  for (let one = reader.next(); one !== undefined; one = reader.next()) {
    if (one.count === 0) continue
    const { timestamp, sets } = one.toResult()
    const value = Number(extract(sets[0]!, 0, PM_TYPE_U32))
    found.push(value)
    const inst = sets[0]!.inst[0]!
    const [name] = archive.metadata.instances(INDOM, { id: inst }, timestamp).names
    if (name !== nameOf(inst)) problems.push(`record ${value} is of ${name}`)
  }
  if (found.join() !== written.join()) problems.push(`written ${written}, found ${found}`)
  const end = archive.end()
  if (isError(end)) problems.push('no end')
  // By the index as well as from the start.
  for (const value of written) {
    reader.seek({ sec: 1000 + value, nsec: 0 }, 'forward')
    const one = reader.next()
    if (one?.sec !== 1000 + value) problems.push(`record ${value} is not found by its time`)
  }
  archive.close()
  return problems
}

const faults: Readonly<Record<string, (k: number) => (call: DiskCall) => DiskFault | undefined>> = {
  'no room once': (k) => (call) => (call.change === k ? 'ENOSPC' : undefined),
  'an input/output error once': (k) => (call) => (call.change === k ? 'EIO' : undefined),
  'no room for a time':
    (k) =>
    ({ change = -1, name }) =>
      change >= k && change < k + 20 && (name === 'write' || name === 'open') ? 'ENOSPC' : undefined,
  'a record torn, and no way to cut it off for a time':
    (k) =>
    ({ change = -1, name, length = 0 }) => {
      if (change < k || change >= k + 12) return undefined
      if (change === k && name === 'write' && length > 1) return { short: length >> 1 }
      return name === 'write' || name === 'truncate' ? 'EIO' : undefined
    },
  'syncs that fail for a time':
    (k) =>
    ({ change = -1, name }) =>
      change >= k && change < k + 20 && (name === 'sync' || name === 'syncDirectory') ? 'EIO' : undefined,
}

describe('an archive on a disk with', () => {
  for (const [name, faultAt] of Object.entries(faults))
    test(name, async () => {
      const { changes, written } = await record(() => undefined)
      expect(written).toHaveLength(RECORDS)
      let failures = 0
      for (let k = 0; k < changes; k++) {
        const run = await record(faultAt(k))
        failures += run.failures
        expect(problemsOf(run), `${name}, from change ${k}`).toEqual([])
        // Only the failed records are lost.
        if (run.isBegun) expect(run.written.length + run.failures).toBeGreaterThanOrEqual(RECORDS)
      }
      expect(failures).toBeGreaterThan(5)
    })
})

test('a partial record that could not be truncated is at the end, where readers ignore it', async () => {
  let isTorn = false
  const run = await record(({ name, change = 0, length = 0 }) => {
    if (change < 30) return undefined
    if (name === 'write' && length > 1 && !isTorn) {
      isTorn = true
      return { short: length >> 1 }
    }
    return name === 'write' || name === 'truncate' ? 'EIO' : undefined
  })
  expect(run.written.length).toBeGreaterThan(3)
  expect(problemsOf(run)).toEqual([])
})
