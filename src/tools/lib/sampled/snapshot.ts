/** One look at a source: now, or at a moment of an archive. pcp-free(1), pcp-uptime(1) */

import type { Timestamp } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import type { ArchiveControl } from '../../../pmapi/archive-control.ts'
import type { Context } from '../../../pmapi/context.ts'
import type { ToolIo } from '../tool.ts'
import { type Sample, SampledMetrics, type WantedMetric } from './metrics.ts'

/**
 * Looks metrics up for a report that shows what there is. PM_ERR_NAME with the message of PCP's reports when none of them is known,
 * or not all of `required`.
 */
export async function findAny(
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
 * The values at a moment of an archive, or now. An archive may begin before its values do: where nothing of `leading` is known yet,
 * the values of the first record behind it are those of the moment, and later samples go on from there. Errors as for a fetch.
 */
export async function snapshot(
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
 * The values of the first record at a moment of an archive or behind it that has some of the metrics, or now. PM_ERR_EOL where there is
 * none, and errors as for a fetch.
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

/** The values at the first record from a moment on where something is known. */
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
