/** The extended header printed by -x. pmrep(1) */
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { ReportPlan } from '../lib/report/report.ts'
import { durationText, utcOffset } from '../lib/report/stamps.ts'

/** Data of the header besides the plan. */
export interface BannerFacts {
  /** The zone of this process. */
  readonly ownZone: Zone
  readonly now: Timestamp
  /** End of the archive. */
  readonly end: Timestamp | undefined
}

/** Returns the lines of the header, each beginning with `mark` (for CSV). */
export function bannerLines(plan: ReportPlan, facts: BannerFacts, mark: string): string {
  const { schedule, zone, archiveName, host, settings, metrics, context } = plan
  const { origin, samples, intervalSec, isCounted } = schedule
  const isRaw = archiveName !== undefined && !settings.interpol
  const finish = endOf(plan, facts)
  const offset = utcOffset(zone, origin.sec)
  const own = utcOffset(facts.ownZone, facts.now.sec)
  const lines: (readonly [string, string])[] = []
  if (archiveName !== undefined) lines.push(['archive', archiveName])
  lines.push(['host', host])
  lines.push(['timezone', offset + (offset === own ? '' : ` (reporting, current is ${own})`)])
  lines.push(['start', ctime(origin.sec, zone)])
  lines.push(['end', finish === undefined ? 'N/A' : ctime(finish.sec, zone)])
  const instances = metrics.reduce((sum, { insts }) => sum + insts.length, 0)
  const isOpen = settings.dynamic_header || settings.live_filter || settings.fixed_header
  const where = isOpen ? (context.archive === undefined ? ' initially' : ' present in archive') : ''
  lines.push(['metrics', `${metrics.length} (${instances} instance${instances === 1 ? '' : 's'}${where})`])
  const count = samples ?? countOf(plan, finish)
  lines.push(['samples', isRaw ? (isCounted ? `${samples} (requested)` : 'N/A') : String(count ?? 'N/A')])
  lines.push(['interval', isRaw ? 'N/A' : `${pythonFloat(intervalSec)} sec`])
  lines.push(['duration', durationOf(plan, finish, count)])
  const text = lines.map(([name, value]) => `${mark}${name.padStart(9)}: ${value}\n`)
  return `${mark}\n${text.join('')}${mark}\n`
}

/** Returns the archive's own end, even if only a part is reported. */
function endOf({ schedule }: ReportPlan, { end }: BannerFacts): Timestamp | undefined {
  if (end !== undefined) return end
  const { samples, intervalSec, origin, finish } = schedule
  if (finish !== undefined || samples === undefined) return finish
  return { sec: origin.sec + Math.trunc((samples - 1) * intervalSec), nsec: origin.nsec }
}

function countOf({ schedule }: ReportPlan, finish: Timestamp | undefined): number | undefined {
  if (finish === undefined) return undefined
  return Math.max(0, Math.trunc(secondsBetween(schedule.origin, finish) / schedule.intervalSec + 1))
}

function durationOf(
  { schedule, settings, archiveName }: ReportPlan,
  end: Timestamp | undefined,
  count: number | undefined,
): string {
  const isRaw = archiveName !== undefined && !settings.interpol
  const last = schedule.finish ?? (isRaw ? end : undefined)
  if (last !== undefined) return durationText(secondsBetween(schedule.origin, last))
  return count === undefined ? 'N/A' : durationText((count - 1) * schedule.intervalSec)
}

/** Formats a float like Python: `2.0`. */
export function pythonFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value)
}
