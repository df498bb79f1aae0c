/** A small archive on disk for tests of commands that read archives. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  archive,
  desc,
  entry,
  indom,
  mark,
  result,
  type TestArchive,
  text,
  type Version,
} from '../archive/build.ts'

/** PM_TYPE_* and PM_SEM_* values in the archive. */
const [U32, U64, DOUBLE, STRING] = [1, 3, 5, 6]
const [COUNTER, INSTANT, DISCRETE] = [1, 3, 4]
const DOMAIN = (9 << 22) | 1
const id = (item: number): number => (9 << 22) | item
/** Units: count, byte. */
const COUNT = 1 << 20
const BYTE = 1 << 28

/** Values of every kind at 0, 10, 15, 35 s, a mark, and 50, 60, 65, 70 s. */
export function sampleArchive(version: Version = 3): TestArchive {
  const points = [
    [0, 0],
    [10, 100],
    [15, 120],
    [35, 140],
    [50, 1000],
    [60, 1200],
    [65, 100],
    [70, 150],
  ] as const
  const record = (time: number, value: number): Uint8Array =>
    result(
      version,
      time,
      { pmid: id(1), type: U32, values: [[-1, value]] },
      {
        pmid: id(2),
        type: U64,
        values: [
          [1, BigInt(value)],
          [2, BigInt(2 * value)],
        ],
      },
      { pmid: id(3), type: DOUBLE, values: [[-1, value]] },
      { pmid: id(4), type: STRING, values: [[-1, `at ${time}`]] },
      { pmid: id(5), type: DOUBLE, values: time === 0 ? -12357 : [] },
    )
  const records = points.map(([time, value]) => record(time, value))
  return {
    version,
    host: 'testhost',
    meta: [
      desc({ pmid: id(1), type: U32, sem: COUNTER, units: COUNT }, 't.counter'),
      desc({ pmid: id(2), type: U64, sem: INSTANT, indom: DOMAIN, units: BYTE }, 't.instances', 't.other'),
      indom(version, 0, DOMAIN, [
        [1, 'one'],
        [2, 'two words'],
      ]),
      desc({ pmid: id(3), type: DOUBLE, sem: DISCRETE }, 't.discrete'),
      desc({ pmid: id(4), type: STRING, sem: DISCRETE }, 't.text'),
      desc({ pmid: id(5), type: DOUBLE }, 't.failing'),
      text(1 | 4, id(1), 'counts'),
      text(2 | 4, id(1), 'counts things\nand more'),
    ],
    volumes: [[...records.slice(0, 4), mark(version, 35.001), ...records.slice(4)]],
    index: [entry(version, 0, 0, 808, 808)],
  }
}

/** Writes the files of an archive named `a` into a new directory; `path` is the archive's. */
export function onDisk(options: TestArchive): {
  readonly path: string
  readonly directory: string
  remove(): void
} {
  const directory = mkdtempSync(join(tmpdir(), 'archive-'))
  for (const [name, bytes] of Object.entries(archive('a', options)))
    writeFileSync(join(directory, name), bytes)
  return {
    path: join(directory, 'a'),
    directory,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
