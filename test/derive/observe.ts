/** Results of a derived metric over a source, in the form of the vectors. */
import { formatG } from '../../src/base/printf.ts'
import { DerivedDefinitions, isDefinition } from '../../src/derive/definitions.ts'
import { withDerived } from '../../src/derive/derived-source.ts'
import { codeOf, isError, PcpError } from '../../src/model/errors.ts'
import { indomStr, PM_INDOM_NULL } from '../../src/model/ids.ts'
import { ANONYMOUS, type MetricSource } from '../../src/model/source.ts'
import { PM_TYPE_AGGREGATE, PM_TYPE_DOUBLE, PM_TYPE_EVENT, PM_TYPE_FLOAT } from '../../src/model/types.ts'
import { unitsStr } from '../../src/model/units.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import type { FetchResult, ValueSet } from '../../src/model/values.ts'
import { T0 } from './dataset.ts'

/** A case of a vector file. */
export interface Case {
  readonly expr: string
  readonly defs?: readonly (readonly [string, string])[]
  readonly desc?: readonly [number, string | null, number, string] | string
  readonly values?: readonly (readonly [string, string | readonly (readonly [number | null, string])[]])[]
  readonly syntaxError?: { readonly offset: number; readonly msg: string | null }
  readonly semanticError?: string
  readonly bindMessage?: string
  readonly addError?: { readonly code: string; readonly msg: string }
  readonly perContext?: object
  readonly crash?: boolean
}

const ask = { requester: ANONYMOUS }

/** Formats a set as the vectors do. */
function written(set: ValueSet, type: number): unknown {
  if (set.status < 0) return codeOf(set.status)
  return valuesOf(set, type).map(({ inst, value }) => [
    inst === -1 ? null : inst,
    type === PM_TYPE_DOUBLE
      ? formatG(value as number, 17)
      : type === PM_TYPE_FLOAT
        ? formatG(value as number, 9)
        : type >= PM_TYPE_EVENT
          ? 'error PM_ERR_CONV' // the recorder could not show them
          : type >= PM_TYPE_AGGREGATE
            ? '?'
            : String(value),
  ])
}

function offsetOf({ timestamp }: FetchResult): string {
  return `${timestamp.sec - T0}.${String(timestamp.nsec / 1000).padStart(6, '0')}`
}

/** Returns everything that a vector records about a case; `marker` is fetched along, `tick` is called before each fetch. */
export async function observe(
  { expr, defs = [], values }: Case,
  under: MetricSource,
  { marker, tick }: { readonly marker?: string; readonly tick?: () => void },
): Promise<Case> {
  const globals = new DerivedDefinitions('global')
  for (const [name, text] of defs) globals.add(name, text)
  const outcome = globals.add('d.x', expr)
  if (!isDefinition(outcome))
    return { expr, syntaxError: { offset: outcome.offset, msg: outcome.why ?? null } }
  let reported = ''
  const report = (text: string): void => {
    reported += text
  }
  const source = withDerived(under, globals, { report, hasEvents: true })
  const ids = await source.lookupNames(marker === undefined ? ['d.x'] : ['d.x', marker], ask)
  const [desc] = await source.descs([outcome.pmid], ask)
  if (isError(desc!)) {
    const isUsual = reported === `Semantic error: derived metric d.x: ${expr}: ${desc.message}\n`
    const bindMessage = reported === '' || isUsual ? {} : { bindMessage: reported }
    return { expr, semanticError: desc.message, ...bindMessage }
  }
  const { type, indom, sem, units } = desc!
  const rows: [string, unknown][] = []
  for (let i = 0; i < (values?.length ?? 0); i++) {
    tick?.()
    const result = await source.fetch(ids as readonly number[], ask)
    const offset = marker === undefined ? '0' : offsetOf(result)
    rows.push([offset, written(result.sets[0]!, type)])
  }
  return {
    expr,
    desc: [type, indom === PM_INDOM_NULL ? null : indomStr(indom), sem, unitsText(unitsStr(units))],
    ...(values === undefined ? {} : { values: rows as Case['values'] & {} }),
  }
}

/** Converts units without dimension from the text of release 6 to that of release 7. */
function unitsText(text: string): string {
  return text.replace(/^x 10/, 'count x 10')
}

/** Returns the expected result of a vector, in the form of `observe`. */
export function expected({ expr, desc, values, syntaxError, semanticError, bindMessage }: Case): Case {
  if (syntaxError !== undefined) return { expr, syntaxError }
  if (semanticError !== undefined) {
    if (bindMessage === undefined) return { expr, semanticError }
    // An error about a missing operand is not reported, as in release 6.0.3.
    const isOperand = bindMessage.includes('d.x: operand ')
    return { expr, semanticError, ...(isOperand ? {} : { bindMessage }) }
  }
  const own = Array.isArray(desc) ? ([...desc.slice(0, 3), unitsText(desc[3])] as const) : desc
  return { expr, desc: own as Case['desc'] & {}, ...(values === undefined ? {} : { values }) }
}

/** Returns the error of defining the case in one context; undefined if it succeeds. */
export async function complaint({ expr, defs = [] }: Case, under: MetricSource): Promise<string | undefined> {
  const source = withDerived(under, new DerivedDefinitions('global'), { hasEvents: true })
  let message: string | undefined
  for (const [name, text] of [...defs, ['d.x', expr] as const]) {
    try {
      await source.define(name, text, ask)
    } catch (error) {
      if (!(error instanceof PcpError) || error.code !== 'PM_ERR_BADDERIVE') throw error
      message = error.message
    }
  }
  return message
}

/** Returns the reference's error in that case. */
export function expectedComplaint({ expr, syntaxError, semanticError, addError }: Case): string | undefined {
  if (addError !== undefined) return addError.msg
  const text = (kind: string, offset: number, why: string): string =>
    `${kind} Error: pmAddDerivedMetric("d.x", ...)\n${expr}\n${' '.repeat(Math.abs(offset))}^\n${why}\n`
  if (syntaxError !== undefined) return text('Syntax', syntaxError.offset, syntaxError.msg!)
  return semanticError === undefined ? undefined : text('Semantic', 0, semanticError)
}
