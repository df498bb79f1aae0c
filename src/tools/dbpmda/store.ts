/** Stores a value in all instances of the profile. dbpmda(1) */
import { PcpError } from '../../model/errors.ts'
import { PM_IN_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { parseValue } from '../../model/parse-value.ts'
import { printValue } from '../../model/print.ts'
import {
  PM_TYPE_AGGREGATE,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_EVENT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_NOSUPPORT,
  typeStr,
} from '../../model/types.ts'
import { makeSet } from '../../model/value-writer.ts'
import type { Value, ValueSet } from '../../model/values.ts'
import { descOf, type RequestContext, replyOf } from './request-context.ts'

/** Types without a text representation. */
const REFUSED: ReadonlyMap<number, string> = new Map([
  [PM_TYPE_NOSUPPORT, 'NO_SUPPORT'],
  [PM_TYPE_AGGREGATE, 'AGGREGATE'],
  [PM_TYPE_AGGREGATE_STATIC, 'AGGREGATE'],
  [PM_TYPE_EVENT, 'EVENT'],
  [PM_TYPE_HIGHRES_EVENT, 'HIGHRES_EVENT'],
])

/** Fetches descriptor and values, shows the change, and stores. */
export async function store(
  { id, value: text }: { readonly id: Pmid; readonly value: string },
  context: RequestContext,
): Promise<void> {
  const { source, ask, say, print } = context
  say(`PMID: ${pmidStr(id)}\nGetting description...\n`)
  const desc = await descOf(id, context)
  if (desc === undefined) return
  if (context.sendsProfile()) say('Sending Profile...\n')
  say('Getting Result Structure...\n')
  const result = await replyOf(source.fetch([id], ask), 'fetch', context)
  const before = result?.sets[0]
  if (before === undefined) return
  const problem = problemOf(before, desc.type)
  const value = problem === undefined ? valueFrom(text, desc.type) : new Error(problem)
  if (value instanceof Error) {
    say(`Error: ${value.message}\n`)
    return
  }
  const requested = makeSet(
    id,
    desc.type,
    before.inst,
    Array.from(before.inst, () => value),
  )
  for (let i = 0; i < before.status; i++) {
    const inst = before.status === 1 || before.inst[0] === PM_IN_NULL ? '' : ` [${i}]`
    const shown = (set: ValueSet): string => printValue(set, i, desc.type, 1, print)
    say(`${pmidStr(id)}${inst}: ${shown(before)} -> ${shown(requested)}\n`)
  }
  if (!context.isLocal) say('Sending Result...\n')
  await replyOf(source.store([requested], ask), 'store', context)
}

function problemOf({ pmid, status }: ValueSet, type: number): string | undefined {
  const refused = REFUSED.get(type)
  if (refused !== undefined) return `dbpmda does not support storing into ${refused} metrics`
  if (status < 0) return `${pmidStr(pmid)}: ${PcpError.fromStatus(status).text}`
  return status === 0 ? `${pmidStr(pmid)} not available!` : undefined
}

function valueFrom(text: string, type: number): Value | Error {
  try {
    return parseValue(text, type)
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    const why = error.code === 'ERANGE' ? 'out of range for' : 'incompatible with'
    return new Error(`Value "${text}" is ${why} metric type (PM_TYPE_${typeStr(type)})`)
  }
}
