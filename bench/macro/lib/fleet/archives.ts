/** Archives of made-up hosts, as a recorder would have written them. */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createArchive } from '../../../../src/archive.ts'
import { PM_IN_NULL } from '../../../../src/model/ids.ts'
import { SEMANTICS, TYPES, unitsWord } from '../../../../src/pmda/type-tables.ts'
import { FLEET_INSTANCES, type FleetMetric, hostLabels, hostName, valueAt } from './metrics.ts'

/** Which archives to write. */
export interface FleetArchives {
  readonly hosts: number
  readonly metrics: readonly FleetMetric[]
  readonly start: number
  readonly samples: number
  readonly interval: number
}

/** Writes an archive for each host, `DIR/HOST.*`; returns their bytes. */
export function writeArchives(
  dir: string,
  { hosts, metrics, start, samples, interval }: FleetArchives,
): number {
  let bytes = 0
  for (let host = 0; host < hosts; host++) {
    const base = join(dir, hostName(host))
    const archive = createArchive(base, { hostname: hostName(host), timezone: 'UTC' })
    archive.addLabels({ hostname: hostName(host), ...hostLabels(host) })
    for (const [serial, names] of FLEET_INSTANCES) {
      const of = metrics.find((metric) => metric.serial === serial)
      if (of === undefined) continue
      for (const [i, name] of names.entries()) archive.addInstance(of.indom, name, i)
    }
    const added = metrics.map((metric) => {
      const { name, pmid, type, sem, units, indom } = metric
      archive.addMetric(name, {
        pmid,
        type: TYPES[type],
        sem: SEMANTICS[sem],
        units: unitsWord(name, units),
        indom,
      })
      archive.addText(name, 'oneline', `Made up: ${name}`)
      return { metric, handle: archive.metric(name)! }
    })
    for (let i = 0; i < samples; i++) {
      const sec = start + i * interval
      for (const { metric, handle } of added)
        for (const inst of metric.instances)
          archive.put(handle, valueAt(host, metric, inst, sec), inst === PM_IN_NULL ? undefined : inst)
      archive.write({ sec, nsec: 0 })
    }
    archive.close()
    for (const part of ['meta', 'index', '0']) bytes += statSync(`${base}.${part}`).size
  }
  return bytes
}

/** Returns the bytes of a host's archive after xz, as a daily run compresses it; NaN without that program. */
export function compressedBytes(dir: string, host: number): number {
  let bytes = 0
  for (const part of ['meta', 'index', '0']) {
    const path = `${join(dir, hostName(host))}.${part}`
    const { status, stdout } = spawnSync('xz', ['-c', path], { maxBuffer: 1 << 28, timeout: 60_000 })
    if (status !== 0) return Number.NaN
    bytes += stdout.length
  }
  return bytes
}
