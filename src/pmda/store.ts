/** Stores the values of a value set with the agent's callback. */
import { PcpError } from '../model/errors.ts'
import { PM_IN_NULL } from '../model/ids.ts'
import type { Ask } from '../model/source.ts'
import { extract } from '../model/value-set.ts'
import type { Value, ValueSet } from '../model/values.ts'
import { type AgentMetric, descOf } from './compile.ts'

/**
 * Stores the values of a set. PM_ERR_PERMISSION for a metric without `store`, and for a control unless the client is root
 * or `owner`; PM_ERR_BADSTORE for values of another type, PM_ERR_INST for an unknown instance, and any error of the
 * metric. Values before a refused one stay stored.
 */
export function storeSet(metric: AgentMetric, set: ValueSet, ask: Ask, owner: number | undefined): void {
  const { name, spec, indom } = metric
  const { store } = spec
  if (store === undefined)
    throw new PcpError('PM_ERR_PERMISSION', `${name}: no permission to store: it can only be read`)
  if (spec.isControl === true && !mayControl(ask, owner))
    throw new PcpError(
      'PM_ERR_PERMISSION',
      `${name}: only root and the owner of the agent, over a unix socket or authenticated, may store`,
    )
  // Listed once for the whole set, as listing may read many files.
  const known = indom === undefined ? undefined : new Set(indom.list(ask).ids)
  const { type } = descOf(metric)
  for (let i = 0; i < set.status; i++) {
    const value = valueAt(name, set, i, type)
    const inst = set.inst[i]!
    const isOwn = inst === PM_IN_NULL && spec.acceptsNullInstance === true
    if (known !== undefined && !known.has(inst) && !isOwn)
      throw new PcpError('PM_ERR_INST', `${name}: no instance ${inst} to store to`)
    store(value, inst, ask)
  }
}

function mayControl({ requester }: Ask, owner: number | undefined): boolean {
  const uid = requester.credentials?.uid
  return uid !== undefined && (uid === 0 || uid === owner)
}

function valueAt(name: string, set: ValueSet, i: number, type: number): Value {
  try {
    return extract(set, i, type)
  } catch (error) {
    throw new PcpError('PM_ERR_BADSTORE', `${name}: ${(error as Error).message}`, { cause: error })
  }
}
