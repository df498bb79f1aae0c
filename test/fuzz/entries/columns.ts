/** Columns files: read alone, and by a query, which reads the archive instead of a damaged file. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createArchive } from '../../../src/archive.ts'
import { indom, PM_INDOM_NULL, pmid } from '../../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../../src/model/types.ts'
import { placeAt } from '../../../src/series/archives/files.ts'
import { ArchiveSeries } from '../../../src/series/archives/store.ts'
import { buildColumns } from '../../../src/series/columns/build.ts'
import { ColumnsFile } from '../../../src/series/columns/file.ts'
import { columnsPath, contentStamp } from '../../../src/series/columns/places.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'
import { withChecksums } from '../../series/columns/checksums.ts'
import { attemptAll, type FuzzEntry, hold } from '../engine/entry.ts'

const START = 1_700_000_000
const TYPES = [PM_TYPE_U64, PM_TYPE_FLOAT, PM_TYPE_DOUBLE]
/** The stamp contains the times of the archive's files. */
const CHANGED = START + 1000
const WINDOWS = [{ samples: 3 }, { start: { sec: START + 95, nsec: 0 } }, { interval: 30, samples: 5 }]

/** An archive in a temporary directory. */
class Sample {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'fuzz-columns-'))
  readonly base: string = join(this.directory, 'day1')
  readonly path: string = columnsPath(this.base)
  readonly store: ArchiveSeries = new ArchiveSeries([this.directory], { freshMs: Number.POSITIVE_INFINITY })

  constructor() {
    mkdirSync(dirname(this.path))
    const made = createArchive(this.base, { hostname: 'here', timezone: 'UTC' })
    for (const [i, type] of TYPES.entries()) {
      const domain = i === 1 ? PM_INDOM_NULL : indom(77, i)
      const about = { type, sem: PM_SEM_INSTANT, units: '', indom: domain }
      made.addMetric(`demo.m${i}`, { pmid: pmid(77, 0, i), ...about })
      if (domain !== PM_INDOM_NULL) for (const n of [0, 1]) made.addInstance(domain, `i${n}`, n)
    }
    for (let i = 0; i < 70; i++) {
      made.put('demo.m0', i < 60 ? 5n * BigInt(i) : 2n ** 60n, 0)
      if (i % 3 > 0) made.put('demo.m0', i, 1)
      made.put('demo.m1', i / 7)
      made.put('demo.m2', i, i % 2)
      made.write({ sec: START + 10 * i, nsec: i })
      if (i === 12) made.mark()
    }
    made.close()
    for (const part of ['meta', 'index', '0']) utimesSync(`${this.base}.${part}`, CHANGED, CHANGED)
  }

  get stamp(): Uint8Array {
    return contentStamp(this.content)
  }

  get content(): string {
    return placeAt(this.base)!.content
  }
}

let opened: Sample | undefined
const sample = (): Sample => (opened ??= new Sample())

/** Entry of src/series/columns. */
export const columns: FuzzEntry = {
  seeds: () => seeds,
  maxLength: 4096,
  repair: (input) => withChecksums(input, sample().stamp),
  async run(input) {
    const { path, stamp, store } = sample()
    writeFileSync(path, input)
    attemptAll(columns, [
      () => {
        const file = ColumnsFile.open(path, stamp)
        for (const id of file.metrics.slice(0, 20))
          for (const { samples, times } of file.chunks(id, TYPES[id % 3]!)) {
            for (const record of samples.records) hold(record < times.sec.length, 'a sample has a time')
            samples.moveTo(samples.records.length - 1)
          }
      },
    ])
    for (let i = 0; i < TYPES.length; i++) {
      const [id] = await store.withName('metric', `demo.m${i}`)
      for (const window of WINDOWS) {
        const answer = await failing(() => store.samples(id!, window, new ValueBudget()))
        hold(answer !== undefined, 'a query over a damaged columns file is answered')
      }
    }
  },
  async close() {
    await opened?.store.close()
    if (opened !== undefined) rmSync(opened.directory, { recursive: true, force: true })
    opened = undefined
  },
}

async function failing<T>(query: () => Promise<T>): Promise<T | undefined> {
  try {
    return await query()
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw error
    return undefined
  }
}

const seeds = await Promise.all([1 << 20, 1].map(seedOf))

/** Returns the columns file of the archive, in chunks of this size. */
async function seedOf(chunkBytes: number, i: number): Promise<Uint8Array> {
  const { path, base, content } = sample()
  const own = `${path}.${i}`
  await buildColumns(base, content, own, { chunkBytes })
  return readFileSync(own)
}
