/** The archive for `bench -- archive`: 2,000 metrics of 25 instances, a third each of three kinds of values. */
import { rmSync } from 'node:fs'
import { ArchiveWriter } from '../../../src/archive/write/writer.ts'
import type { MetricDesc } from '../../../src/model/desc.ts'
import { indom, pmid } from '../../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../../src/model/types.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'

const METRICS = 2000
const INSTANCES = 25
const DOMAIN = 400
/** Seconds between records. */
const STEP = 10
const START = 1_700_000_000

/** Returns the metrics: 64-bit counters, 32-bit counters and doubles, in turn. */
export function largeMetrics(): { name: string; desc: MetricDesc }[] {
  const kinds = [
    { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, word: 'c64' },
    { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, word: 'c32' },
    { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, word: 'level' },
  ] as const
  return Array.from({ length: METRICS }, (_, i) => {
    const { type, sem, word } = kinds[i % 3]!
    const desc = {
      pmid: pmid(DOMAIN, i >> 10, i & 1023),
      type,
      indom: indom(DOMAIN, 1),
      sem,
      units: 0,
    }
    return { name: `bench.${word}.m${i}`, desc }
  })
}

/** Writes the archive `base` with `records` records of 50,000 values. Returns the size of its volume in bytes. */
export function writeLargeArchive(base: string, records: number): number {
  for (const part of ['index', 'meta', '0']) rmSync(`${base}.${part}`, { force: true })
  const writer = ArchiveWriter.create(archiveOutput(base, { bufferBytes: 1 << 20 }), {
    hostname: 'bench.local',
    timezone: 'UTC',
    pid: 1,
    version: 2,
  })
  const metrics = largeMetrics()
  const ids = Array.from({ length: INSTANCES }, (_, i) => i)
  const first = { sec: START, nsec: 0 }
  for (const { name, desc } of metrics) writer.desc(desc, [name])
  writer.instances(
    first,
    metrics[0]!.desc.indom,
    ids,
    ids.map((id) => `instance-${id}`),
  )
  // A seeded generator, so that the archive is always the same, with values of all sizes.
  let state = 1
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const counters = Float64Array.from({ length: METRICS * INSTANCES }, () => Math.floor(random() * 1e9))
  for (let record = 0; record < records; record++) {
    const sets = metrics.map(({ desc }, m) =>
      makeSet(
        desc.pmid,
        desc.type,
        ids,
        ids.map((inst) => {
          if (desc.type === PM_TYPE_DOUBLE) return random() * 1000
          const at = m * INSTANCES + inst
          counters[at] = counters[at]! + Math.floor(random() * 1000)
          return desc.type === PM_TYPE_U64 ? counters[at]! * 1000 : counters[at]!
        }),
      ),
    )
    writer.result({ sec: START + record * STEP, nsec: 0 }, sets)
  }
  const size = writer.dataBytes
  writer.close()
  return size
}
