/** All labels that hold for a metric, level after level. pmLookupLabels(3) */
import { PcpError } from '../model/errors.ts'
import { domainOf, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import type { LabelSet } from '../model/labels.ts'
import type { CallOptions, Context } from './context.ts'

/** Errors that mean: nobody answers for this. */
const NOBODY: ReadonlySet<string> = new Set(['PM_ERR_NOAGENT', 'PM_ERR_PMID', 'PM_ERR_INDOM', 'PM_ERR_AGAIN'])

/** See `Context.labelsFor`. */
export async function labelsOf(
  context: Context,
  id: Pmid,
  options: CallOptions | undefined,
): Promise<readonly LabelSet[]> {
  const { indom } = await context.desc(id, options)
  const sets = await Promise.all([
    context.contextLabels(options),
    orNone(context.domainLabels(domainOf(id), options)),
    indom === PM_INDOM_NULL ? [] : orNone(context.indomLabels(indom, options)),
    orNone(context.clusterLabels(id, options)),
    orNone(context.itemLabels(id, options)),
  ])
  return sets.flat().filter(({ status, json }) => status >= 0 && json !== '')
}

/** Label sets, or none where the agent that would know them is not there. */
async function orNone(sets: Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
  try {
    return await sets
  } catch (error) {
    if (error instanceof PcpError && NOBODY.has(error.code)) return []
    throw error
  }
}
