/** Opening archives, and stepping through records in memory: 200 records of 100 metrics with 50 values, half of them blocks. */
import { bench, run } from 'mitata'
import { Archive } from '../../src/archive/archive.ts'
import { type ReaderOptions, RecordReader } from '../../src/archive/reader.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import { archive, desc, entry, indom, memoryFiles, result, type TestSet } from '../../test/archive/build.ts'

const DISK = 5 << 22
const INSTANCES = Array.from({ length: 50 }, (_, i) => i)
const METRICS = Array.from({ length: 100 }, (_, m) => m + 1)

function setOf(pmid: number): TestSet {
  return pmid % 2 === 0
    ? { pmid, values: INSTANCES.map((i) => [i, i] as const) }
    : { pmid, type: 3, values: INSTANCES.map((i) => [i, BigInt(i)] as const) }
}

const meta = [
  ...METRICS.map((pmid) =>
    desc({ pmid, indom: DISK, type: pmid % 2 === 0 ? 0 : 3 }, `bench.group${pmid % 9}.metric${pmid}`),
  ),
  indom(
    3,
    0,
    DISK,
    INSTANCES.map((i) => [i, `disk${i}`] as const),
  ),
]
const records = Array.from({ length: 200 }, (_, time) => result(3, time, ...METRICS.map(setOf)))
const index = records.map((record, time) => entry(3, time, 0, 0, 808 + time * record.length))
const contents = archive('a', { meta, volumes: [records], index })
const files = memoryFiles(contents)
const inMemory = { ...files, open: (path: string) => bytesSource(contents[path]!) }
const opened = Archive.open('a', inMemory)

function scan(options: ReaderOptions): number {
  const reader = new RecordReader(opened, options)
  let sets = 0
  for (let record = reader.next(); record !== undefined; record = reader.next()) sets += record.count
  return sets
}

const seeker = new RecordReader(opened)

bench('open', () => Archive.open('a', inMemory))
bench('open and make the name space', () => Archive.open('a', inMemory).metadata.names.size)
bench('million values: frames only', () => scan({ checkValues: false }))
bench('million values: everything checked', () => scan({}))
bench('seek and read one record', () => {
  seeker.seek({ sec: 137, nsec: 0 }, 'forward')
  return seeker.next()
})
await run()
