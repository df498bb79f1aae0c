/** Determines the states of groups by probing a collector. pmlogconf(1) */
import { isError, PcpError } from '../../model/errors.ts'
import { PM_TYPE_STRING } from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import type { Context } from '../../pmapi/context.ts'
import type { Condition, Group, State } from './group-file.ts'

/** Result of a probe. */
export interface Probed {
  readonly state: State
  /** Undefined without a condition. */
  readonly isTrue: boolean | undefined
}

/** Returns the state of a group. Missing metrics count as false; throws if the connection is lost. */
export async function probeGroup({ derived, rule }: Group, context: Context): Promise<Probed> {
  if (rule.kind === 'force') return { state: rule.state, isTrue: undefined }
  for (const [name, expression] of derived) await unlessKnown(context.addDerived(name, expression))
  const isTrue = await holds(rule.metric, rule.condition, context)
  return { state: isTrue ? rule.whenTrue : rule.whenFalse, isTrue }
}

/** Ignores errors: two groups may define the same metric, and a collector may lack the metrics it needs. */
async function unlessKnown(added: Promise<unknown>): Promise<void> {
  try {
    await added
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
  }
}

async function holds(metric: string, condition: Condition, context: Context): Promise<boolean> {
  const [id] = await context.lookupNames([metric])
  if (id === undefined || isError(id)) return condition.kind === 'exists' && id?.code === 'PM_ERR_NONLEAF'
  if (condition.kind === 'exists') return true
  const [desc] = await context.descs([id])
  if (desc === undefined || isError(desc) || desc.type > PM_TYPE_STRING) return false
  const set = (await context.fetch([id])).sets[0]!
  if (condition.kind !== 'compare') return set.status > 0
  for (let i = 0; i < set.status; i++) {
    const value = extract(set, i, desc.type)
    if (typeof value !== 'object' && compares(value, condition)) return true
  }
  return false
}

function compares(
  value: number | bigint | string,
  { operator, value: wanted }: Extract<Condition, { kind: 'compare' }>,
): boolean {
  if (operator === '~' || operator === '!~') return matches(`${value}`, wanted) === (operator === '~')
  const number = Number(wanted)
  const isText = typeof value === 'string' || Number.isNaN(number)
  const order = isText ? (`${value}` < wanted ? -1 : `${value}` > wanted ? 1 : 0) : Number(value) - number
  switch (operator) {
    case '==':
      return order === 0
    case '!=':
      return order !== 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    case '<':
      return order < 0
    default:
      return order <= 0
  }
}

function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern).test(text)
  } catch (error) {
    throw new PcpError('EINVAL', `Invalid regular expression "${pattern}": ${(error as Error).message}`, {
      cause: error,
    })
  }
}
