/** Metrics fetched by pmclient, in the units of the report. */
import type { Timestamp } from '../../base/timestamp.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { PM_ID_NULL } from '../../model/ids.ts'
import { extract } from '../../model/value-set.ts'
import type { Context } from '../../pmapi/context.ts'
import type { FetchGroup } from '../../pmapi/fetch-group.ts'
import type { FetchIndom, FetchItem } from '../../pmapi/fetch-item.ts'
import { toOutcome } from '../lib/settle.ts'
import type { SamplingWindow } from '../lib/window.ts'

const NCPU = 'hinv.ncpu'
const USER = 'kernel.percpu.cpu.user'
const SYS = 'kernel.percpu.cpu.sys'
const FREE = 'mem.freemem'
const DISK = 'disk.all.total'
const LOAD = 'kernel.all.load'

/** Required metrics. */
export const METRICS: readonly string[] = [NCPU, LOAD, USER, SYS, FREE, DISK]

/** One sample; undefined for missing values. */
export interface Sample {
  /** Of all processors together, 0 to 1. */
  readonly utilisation: number | undefined
  readonly busiest: { readonly cpu: number; readonly utilisation: number } | undefined
  readonly freeMbytes: number | undefined
  /** Disk operations per second. */
  readonly iops: number | undefined
  readonly load1: number | undefined
  readonly load15: number | undefined
}

/** The metrics as a fetch group. */
export interface Activity {
  readonly group: FetchGroup
  readonly processors: number
  /** Returns the values of the last fetch. */
  readonly read: () => Sample
}

/** Adds the metrics to a fetch group. Throws a PcpError naming a missing metric. */
export async function openActivity(group: FetchGroup, window: SamplingWindow): Promise<Activity> {
  const { context } = group
  await checkNames(context)
  const processors = await countProcessors(context, window.start)
  // CPU time per second is the utilization of one processor.
  const user = await group.indom(USER, { scale: 'sec/sec' })
  const sys = await group.indom(SYS, { scale: 'sec/sec' })
  const free = await group.item(FREE, { scale: 'Mbyte' })
  const disk = await group.item(DISK, { scale: 'count/sec' })
  const load1 = await group.item(LOAD, { instance: '1 minute' })
  const load15 = await group.item(LOAD, { instance: '15 minute' })
  const read = (): Sample => {
    const shares = sharesOf(user, sys)
    const busiest = [...shares].reduce<[number, number] | undefined>(
      (most, each) => (most === undefined || each[1] > most[1] ? each : most),
      undefined,
    )
    return {
      utilisation: busiest && [...shares.values()].reduce((sum, share) => sum + share, 0) / processors,
      busiest: busiest && { cpu: busiest[0], utilisation: busiest[1] },
      // PCP shows it only if there are rates as well.
      freeMbytes: busiest && numberOf(free),
      iops: numberOf(disk),
      load1: numberOf(load1),
      load15: numberOf(load15),
    }
  }
  return { group, processors, read }
}

async function checkNames(context: Context): Promise<void> {
  const found = await context.lookupNames(METRICS)
  for (const [i, id] of found.entries()) {
    if (!isError(id)) continue
    // The number of processors is looked up on its own; the other names fail only when their descriptors are fetched.
    if (i === 0)
      throw new PcpError(id.code, `pmLookupName: ${id.text}\npmclient: metric "${NCPU}" not in name space`, {
        cause: id,
      })
    const desc = await toOutcome(context.desc(PM_ID_NULL))
    const reason = isError(desc) ? desc.text : id.text
    throw new PcpError(
      id.code,
      `cannot retrieve description for metric "${METRICS[i]}" (PMID: PM_ID_NULL)\nReason: ${reason}`,
      { cause: id },
    )
  }
}

/** In an archive the number may be recorded before the window, or some time after the archive's start. */
async function countProcessors(context: Context, start: Timestamp): Promise<number> {
  const { archive } = context
  const id = await context.lookupName(NCPU)
  const { type } = await context.desc(id)
  archive?.setMode('interpolate', start, 1)
  for (;;) {
    const set = (await context.fetch([id])).sets[0]!
    if (set.status > 0) return Number(extract(set, 0, type))
    if (archive === undefined) throw new PcpError('PM_ERR_VALUE', `"${NCPU}" has no value`)
    if (archive.mode === 'interpolate') archive.setMode('forward', archive.start)
  }
}

/** Returns the utilization of each processor by number; empty if a value is missing. */
function sharesOf(user: FetchIndom, sys: FetchIndom): ReadonlyMap<number, number> {
  const inSystem = new Map(sys.instances.map((item) => [item.id, numberOf(item)]))
  const shares = new Map<number, number>()
  for (const item of user.instances) {
    const inUser = numberOf(item)
    const rest = inSystem.get(item.id)
    if (inUser === undefined || rest === undefined) return new Map()
    shares.set(item.id, inUser + rest)
  }
  return shares
}

function numberOf({ value }: FetchItem): number | undefined {
  return value === undefined ? undefined : Number(value)
}
