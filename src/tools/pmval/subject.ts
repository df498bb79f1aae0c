/** The metric shown by pmval, with its instances. */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { type Indom, indomStr, PM_INDOM_NULL } from '../../model/ids.ts'
import { exclude, include } from '../../model/profile.ts'
import type { Instances } from '../../model/source.ts'
import { PM_SEM_COUNTER, PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../../model/types.ts'
import type { ArchiveControl } from '../../pmapi/archive-control.ts'
import type { Context } from '../../pmapi/context.ts'
import { didYouMeanMetric } from '../lib/similar-metrics.ts'
import type { ToolIo } from '../lib/tool.ts'

/** An instance with its column. */
export interface Column {
  readonly inst: number
  readonly name: string
}

/** A metric with its columns by instance number; undefined for a singular metric. */
export interface ShownMetric {
  readonly name: string
  readonly desc: MetricDesc
  readonly isEvent: boolean
  /** Counters are shown as rates unless -r is given. */
  readonly isRate: boolean
  /** All instances are selected, including new ones. */
  readonly isOpen: boolean
  columns: readonly Column[] | undefined
}

/** Looks the metric up and restricts the context to selected instances. Rejects with PcpError with pmval's message. */
export async function findSubject(
  context: Context,
  name: string,
  instances: readonly string[] | undefined,
  raw: boolean,
  io: ToolIo,
): Promise<ShownMetric> {
  const [id] = await context.lookupNames([name], io)
  if (id === undefined || isError(id))
    throw says(id, `pmLookupName(${name})`, await didYouMeanMetric(name, id, context, io))
  const [desc] = await context.descs([id], io)
  if (desc === undefined || isError(desc)) throw says(desc, 'pmLookupDesc')
  const isEvent = desc.type === PM_TYPE_EVENT || desc.type === PM_TYPE_HIGHRES_EVENT
  const isRate = desc.sem === PM_SEM_COUNTER && !raw && !isEvent
  const hasInstances = desc.indom !== PM_INDOM_NULL
  const columns = hasInstances ? await columnsOf(context, desc, instances, io) : undefined
  if (columns !== undefined && columns.length > 0 && instances !== undefined) {
    const ids = columns.map(({ inst }) => inst)
    context.profile = include(exclude(context.profile, desc.indom), desc.indom, ids)
  }
  return { name, desc, isEvent, isRate, isOpen: instances === undefined, columns }
}

/** Returns the current instances by number; of an archive all that ever existed. */
export async function columnsOf(
  context: Context,
  { indom }: MetricDesc,
  wanted: readonly string[] | undefined,
  io: ToolIo,
): Promise<readonly Column[]> {
  const columns: Column[] = []
  if (wanted === undefined) {
    const { archive } = context
    const { ids, names } =
      archive === undefined ? await context.instances(indom, io) : recorded(archive, indom)
    for (const [i, inst] of ids.entries()) columns.push({ inst, name: names[i]! })
  } else {
    // Keep the name as given, as agents accept other names too, such as the PID of a process.
    for (const name of wanted) columns.push({ inst: await instanceOf(context, indom, name, io), name })
  }
  return columns.sort((a, b) => a.inst - b.inst)
}

async function instanceOf(context: Context, indom: Indom, name: string, io: ToolIo): Promise<number> {
  try {
    return context.archive?.instanceId(indom, name) ?? (await context.instanceId(indom, name, io))
  } catch (error) {
    if (PcpError.from(error).code === 'ECANCELED') throw error
    throw new PcpError('PM_ERR_INST', `instance ${name} not available`, { cause: error })
  }
}

function recorded(archive: ArchiveControl, indom: Indom): Instances {
  try {
    return archive.instances(indom)
  } catch (error) {
    throw says(PcpError.from(error), `pmGetInDom(${indomStr(indom)})`)
  }
}

function says(error: PcpError | undefined, what: string, hint = ''): PcpError {
  const { code, text } = error ?? new PcpError('PM_ERR_IPC')
  return new PcpError(code, `${what}: ${text}${hint}`)
}
