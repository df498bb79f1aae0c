/** Is a collector that changed still the one an archive was begun with? */
import { isError } from '../model/errors.ts'
import { indomStr, pmidStr } from '../model/ids.ts'
import { semStr, typeStr } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import type { Context } from '../pmapi/context.ts'
import type { LoggedMetric } from './logged-metric.ts'

/** What of a metric must stay, and how it is told. */
const FIELDS = [
  ['type', typeStr],
  ['sem', semStr],
  ['indom', indomStr],
  ['units', unitsStr],
] as const

/** The first metric that is not what it was, and how it differs; undefined when all are. Those that are not there now may come again. */
export async function validate(
  context: Context,
  metrics: Iterable<LoggedMetric>,
): Promise<string | undefined> {
  const list = [...metrics]
  const ids = await context.lookupNames(list.map(({ name }) => name))
  const descs = await context.descs(list.map(({ desc }) => desc.pmid))
  for (const [i, { name, desc }] of list.entries()) {
    const id = ids[i]!
    if (isError(id)) continue
    if (id !== desc.pmid) return `Metric "${name}" was ${pmidStr(desc.pmid)} and is ${pmidStr(id)} now`
    const current = descs[i]!
    if (isError(current)) continue
    for (const [field, text] of FIELDS) {
      if (current[field] !== desc[field])
        return `Metric "${name}": ${field} was ${text(desc[field])} and is ${text(current[field])} now`
    }
  }
  return undefined
}
