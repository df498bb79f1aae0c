/** Looks up metrics on a host, once for all rules. docs/reference/pmie.md */
import { isError, PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL } from '../model/ids.ts'
import type { Instances } from '../model/source.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_NOSUPPORT, PM_TYPE_STRING } from '../model/types.ts'
import type { KnownMetric, LookupProblem, RuleContext } from './host.ts'

/** Returns a metric's description, or why rules cannot use it. Throws PcpError if the connection is lost. */
export async function lookupMetric(
  context: RuleContext,
  metric: string,
  signal: AbortSignal,
): Promise<KnownMetric | LookupProblem> {
  const [id] = await context.lookupNames([metric], { signal })
  if (id === undefined || isError(id)) return { what: 'name', error: id }
  const [desc] = await context.descs([id], { signal })
  if (desc === undefined || isError(desc)) return { what: 'desc', error: desc }
  const { type, indom } = desc
  // A collector without values of a metric may report the type NOSUPPORT.
  if (type !== PM_TYPE_STRING && type !== PM_TYPE_NOSUPPORT && (type < PM_TYPE_32 || type > PM_TYPE_DOUBLE))
    return { what: 'type', error: undefined }
  if (indom === PM_INDOM_NULL) return { desc, size: 1, names: new Map() }
  const names = await instanceNames(context, indom, signal)
  return { desc, size: names.size, names }
}

/** Returns whether the lookup succeeded. */
export function isKnown(found: KnownMetric | LookupProblem): found is KnownMetric {
  return 'desc' in found
}

/** Returns the instance names of a domain; in an archive, of all times. */
async function instanceNames(
  context: RuleContext,
  indom: number,
  signal: AbortSignal,
): Promise<Map<number, string>> {
  try {
    const all: Instances = context.archive?.instances(indom) ?? (await context.instances(indom, { signal }))
    return new Map(Array.from(all.ids, (id, i) => [id, all.names[i]!]))
  } catch (error) {
    // An agent may have no instances yet; in an archive the domain may appear with its first values.
    if (error instanceof PcpError && NONE_YET.has(error.code)) return new Map()
    throw error
  }
}

const NONE_YET: ReadonlySet<string> = new Set([
  'PM_ERR_INDOM',
  'PM_ERR_INDOM_LOG',
  'PM_ERR_INST',
  'PM_ERR_NOAGENT',
])

/** Looks up names of new instances. */
export async function learnInstances(
  context: RuleContext,
  known: KnownMetric,
  ids: Int32Array,
  signal: AbortSignal,
): Promise<void> {
  for (const id of ids) {
    if (known.names.has(id)) continue
    const all = await instanceNames(context, known.desc.indom, signal)
    known.names.clear()
    for (const [each, name] of all) known.names.set(each, name)
    // An instance that is already gone gets a placeholder, so that it is not looked up each time.
    for (const each of ids) if (!known.names.has(each)) known.names.set(each, `inst[${each}]`)
    return
  }
}
