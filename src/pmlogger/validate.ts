/** Checks after a reconnection that a collector's metrics still match the archive. */
import { isError } from '../model/errors.ts'
import { indomStr, pmidStr } from '../model/ids.ts'
import { semStr, typeStr } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import type { Context } from '../pmapi/context.ts'
import type { LoggedMetric } from './logged-metric.ts'

/** Fields of a descriptor that must not change, with their formatters. */
const FIELDS = [
  ['type', typeStr],
  ['sem', semStr],
  ['indom', indomStr],
  ['units', unitsStr],
] as const

/** Describes the first metric whose PMID or descriptor changed; undefined if none did. Ignores missing metrics, which may return. */
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
