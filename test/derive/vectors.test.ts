/** Recorded results of derived metrics: what an expression is, and its values over a data set. */
import { expect, test } from 'vitest'
import { formatG } from '../../src/base/printf.ts'
import { DerivedDefinitions, isDefinition } from '../../src/derive/definitions.ts'
import { withDerived } from '../../src/derive/derived-source.ts'
import { codeOf, isError } from '../../src/model/errors.ts'
import { indomStr, PM_INDOM_NULL } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT } from '../../src/model/types.ts'
import { unitsStr } from '../../src/model/units.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import type { FetchResult, ValueSet } from '../../src/model/values.ts'
import { withEventMetrics } from '../../src/pmapi/event-metrics.ts'
import { datasetSource, T0, vectors } from './dataset.ts'
import { MENDED, REASONS } from './mended.ts'

interface Case {
  readonly expr: string
  readonly defs?: readonly (readonly [string, string])[]
  readonly desc?: readonly [number, string | null, number, string] | string
  readonly values?: readonly (readonly [string, string | readonly (readonly [number | null, string])[]])[]
  readonly syntaxError?: { readonly offset: number; readonly msg: string | null }
  readonly semanticError?: string
  readonly bindMessage?: string
  readonly addError?: { readonly code: string; readonly msg: string }
  readonly crash?: boolean
  readonly note?: string
}

const FILES =
  'syntax precedence types semantics units instances rescale ternary nested functions live_sample'.split(' ')
const ask = { requester: ANONYMOUS }

/** One set as the vectors write it. */
function written(set: ValueSet, type: number): unknown {
  if (set.status < 0) return codeOf(set.status)
  return valuesOf(set, type).map(({ inst, value }) => [
    inst === -1 ? null : inst,
    type === PM_TYPE_DOUBLE
      ? formatG(value as number, 17)
      : type === PM_TYPE_FLOAT
        ? formatG(value as number, 9)
        : String(value),
  ])
}

function offsetOf({ timestamp }: FetchResult): string {
  return `${timestamp.sec - T0}.${String(timestamp.nsec / 1000).padStart(6, '0')}`
}

/** Everything a vector tells about a case, as we have it. */
async function observe({ expr, defs = [], values }: Case): Promise<Case> {
  const globals = new DerivedDefinitions('global')
  for (const [name, text] of defs) globals.add(name, text)
  const outcome = globals.add('d.x', expr)
  if (!isDefinition(outcome))
    return { expr, syntaxError: { offset: outcome.offset, msg: outcome.why ?? null } }
  let reported = ''
  const source = withDerived(withEventMetrics(datasetSource()), globals, {
    report: (text) => (reported += text),
  })
  const [id, marker] = await source.lookupNames(['d.x', 'g.s32.i'], ask)
  if (isError(id!) || isError(marker!)) throw new Error('not found')
  const [desc] = await source.descs([id!], ask)
  if (isError(desc!)) {
    const isUsual = reported === `Semantic error: derived metric d.x: ${expr}: ${desc.message}\n`
    const bindMessage = reported === '' || isUsual ? {} : { bindMessage: reported }
    return { expr, semanticError: desc.message, ...bindMessage }
  }
  const { type, indom, sem, units } = desc!
  const rows: [string, unknown][] = []
  for (let i = 0; i < (values?.length ?? 0); i++) {
    const result = await source.fetch([id!, marker!], ask)
    rows.push([offsetOf(result), written(result.sets[0]!, type)])
  }
  return {
    expr,
    desc: [type, indom === PM_INDOM_NULL ? null : indomStr(indom), sem, unitsText(unitsStr(units))],
    ...(values === undefined ? {} : { values: rows as Case['values'] & {} }),
  }
}

/** A scale without dimension prints otherwise in release 6 than in release 7. */
function unitsText(text: string): string {
  return text.replace(/^x 10/, 'count x 10')
}

/** What a vector expects, in the form of `observe`. */
function expected({ expr, desc, values, syntaxError, semanticError, bindMessage }: Case): Case {
  if (syntaxError !== undefined) return { expr, syntaxError }
  if (semanticError !== undefined) {
    if (bindMessage === undefined) return { expr, semanticError }
    // The complaint about an operand that is not there is kept to oneself, as by release 6.0.3.
    const isOperand = bindMessage.includes('d.x: operand ')
    return { expr, semanticError, ...(isOperand ? {} : { bindMessage }) }
  }
  const own = Array.isArray(desc) ? ([...desc.slice(0, 3), unitsText(desc[3])] as const) : desc
  return { expr, desc: own as Case['desc'] & {}, ...(values === undefined ? {} : { values }) }
}

for (const file of FILES) {
  test(`${file}.json`, async () => {
    const { cases, count } = vectors<{ cases: Case[]; count: number }>(file)
    expect(cases.length).toBe(count)
    const mended = new Map(MENDED.filter((row) => row.file === file).map((row) => [row.expr, row]))
    const wrong: unknown[] = []
    let compared = 0
    for (const vector of cases) {
      if (file === 'live_sample' && vector.syntaxError === undefined) continue
      const got = await observe(vector)
      const other = mended.get(vector.expr)
      const want = other === undefined ? expected(vector) : { expr: vector.expr, ...other.instead }
      compared++
      if (JSON.stringify(got) !== JSON.stringify(want)) wrong.push({ got, want })
    }
    const times = (why: string): number => [...mended.values()].filter((row) => row.why === why).length
    const reasons = Object.keys(REASONS).filter((why) => times(why) > 0)
    const list = reasons.map((why) => `${why} ${times(why)}`).join(', ')
    console.log(`${file}: ${compared} of ${count} cases compared; mended: ${list || 'none'}`)
    expect(wrong).toEqual([])
  })
}
