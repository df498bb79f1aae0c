/** Trace of derived metrics, for `-D derive` and the debug controls. docs/how-to/debug.md */
import { trace } from '../model/debug.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { indomStr, type Pmid, pmidStr } from '../model/ids.ts'
import { atomStr } from '../model/print.ts'
import { semStr, typeStr } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import { extract } from '../model/value-set.ts'
import type { ValueSet } from '../model/values.ts'
import type { SyntaxFault } from './expr.ts'

/** Most values shown of one metric. */
const SHOWN = 8

/** Traces the result of parsing. */
export function traceDefinition(
  scope: string,
  name: string,
  text: string,
  outcome: { readonly pmid: Pmid } | SyntaxFault,
): void {
  const what =
    'pmid' in outcome
      ? `is ${pmidStr(outcome.pmid)}`
      : `rejected at column ${outcome.offset + 1}: ${outcome.why ?? 'no expression'}`
  trace('derive', `${scope} ${name} = ${text.trim()}: ${what}`)
}

/** Traces the result of binding. */
export function traceBinding(name: string, desc: Outcome<MetricDesc>): void {
  if (isError(desc)) trace('derive', `${name} cannot be bound: ${desc.message}`)
  else {
    const { type, sem, indom, units } = desc
    const words = `${typeStr(type)} ${semStr(sem)} of ${indomStr(indom)} in ${unitsStr(units) || 'no units'}`
    trace('derive', `${name} bound: ${words}`)
  }
}

/** Traces computed values. */
export function traceValues(name: string, set: ValueSet, type: number): void {
  if (set.status <= 0) {
    const what = set.status === 0 ? 'no values' : PcpError.fromStatus(set.status).message
    trace('derive', `${name}: ${what}`)
    return
  }
  const shown: string[] = []
  for (let i = 0; i < Math.min(set.status, SHOWN); i++) {
    const value = atomStr(extract(set, i, type), type)
    shown.push(set.inst[i] === -1 ? value : `[${set.inst[i]}] ${value}`)
  }
  const more = set.status > SHOWN ? ` and ${set.status - SHOWN} more` : ''
  trace('derive', `${name}: ${shown.join(', ')}${more}`)
}
