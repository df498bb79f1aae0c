/** Values at a single time: now, or in an archive. pcp-free(1), pcp-uptime(1) */

import type { Timestamp } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import type { ArchiveControl } from '../../../pmapi/archive-control.ts'
import type { Context } from '../../../pmapi/context.ts'
import type { ToolIo } from '../tool.ts'
import { type Sample, SampledMetrics, type WantedMetric } from './metrics.ts'

/** Looks metrics up. Rejects with PM_ERR_NAME and PCP's message if none of them is known, or not all of `required`. */
export async function findMetrics(
  context: Context,
  wanted: readonly WantedMetric[],
  io: ToolIo,
  required: readonly string[] = [],
): Promise<SampledMetrics> {
  const metrics = await SampledMetrics.find(context, wanted, io)
  const { missing } = metrics
  if (missing.length < wanted.length && required.every((name) => metrics.has(name))) return metrics
  const list = missing.map((name) => `'${name}'`).join(', ')
  throw new PcpError('PM_ERR_NAME', `Unknown metric name [${list}]`)
}

/**
 * Fetches the values at a time of an archive, or now. If the archive has no values of `leading` yet at that time, uses the first
 * later record that has, and later samples continue from there. Rejects as a fetch does.
 */
export async function fetchAt(
  { archive }: Context,
  metrics: SampledMetrics,
  origin: Timestamp,
  leading: readonly string[],
  io: ToolIo,
): Promise<Sample> {
  if (archive === undefined) return metrics.fetch(io)
  const isKnown = (sample: Sample): boolean => leading.some((name) => sample.has(name))
  archive.setMode('interpolate', origin, 1)
  const first = await metrics.fetch(io)
  if (isKnown(first)) return first
  return (await behind(archive, metrics, origin, isKnown, io)) ?? first
}

/**
 * Fetches the values of the first record at or after a time of an archive that has some of `leading`, or current values. Rejects
 * with PM_ERR_EOL without such a record, and as a fetch does.
 */
export async function nextRecord(
  { archive }: Context,
  metrics: SampledMetrics,
  origin: Timestamp,
  leading: readonly string[],
  io: ToolIo,
): Promise<Sample> {
  if (archive === undefined) return metrics.fetch(io)
  const isKnown = (sample: Sample): boolean => leading.some((name) => sample.has(name))
  const found = await behind(archive, metrics, origin, isKnown, io)
  if (found === undefined) throw new PcpError('PM_ERR_EOL')
  return found
}

/** Finds the first record from `origin` on for which `isKnown` is true. */
async function behind(
  archive: ArchiveControl,
  metrics: SampledMetrics,
  origin: Timestamp,
  isKnown: (sample: Sample) => boolean,
  io: ToolIo,
): Promise<Sample | undefined> {
  archive.setMode('forward', origin)
  try {
    for (;;) {
      const { time } = await metrics.fetch(io)
      archive.setMode('interpolate', time, 1)
      const next = await metrics.fetch(io)
      if (isKnown(next)) return next
      archive.setMode('forward', { sec: time.sec, nsec: time.nsec + 1 })
    }
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return undefined
    throw error
  }
}
