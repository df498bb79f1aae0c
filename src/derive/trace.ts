/** What `-D derive` and the debug controls tell of derived metrics. docs/guide/debugging.md */
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

/** Values of one metric that are shown. */
const SHOWN = 8

/** An expression was read, or could not be. */
export function traceDefinition(
  scope: string,
  name: string,
  text: string,
  outcome: { readonly pmid: Pmid } | SyntaxFault,
): void {
  const what =
    'pmid' in outcome
      ? `is ${pmidStr(outcome.pmid)}`
      : `refused at column ${outcome.offset + 1}: ${outcome.why ?? 'no expression'}`
  trace('derive', `${scope} ${name} = ${text.trim()}: ${what}`)
}

/** A metric was bound to a source, or could not be. */
export function traceBinding(name: string, desc: Outcome<MetricDesc>): void {
  if (isError(desc)) trace('derive', `${name} has no meaning here: ${desc.message}`)
  else {
    const { type, sem, indom, units } = desc
    const words = `${typeStr(type)} ${semStr(sem)} of ${indomStr(indom)} in ${unitsStr(units) || 'no units'}`
    trace('derive', `${name} bound: ${words}`)
  }
}

/** Values were computed. */
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
