/** Operators between two series: value by value, in the order of their samples. */
import { PcpError } from '../../model/errors.ts'
import { PM_SEM_COUNTER, PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../model/types.ts'
import { packUnits, unpackUnits } from '../../model/units.ts'
import type { Value } from '../../model/values.ts'
import type { Sample } from '../store.ts'
import { withInstances } from './functions.ts'
import { numberOf, type SeriesResult } from './result.ts'
import type { Binary } from './syntax.ts'

type Operator = Binary['operator']

/** Pairs of series that are combined: the only ones, or those of the same source in their order. */
export function pairsOf(
  left: readonly SeriesResult[],
  right: readonly SeriesResult[],
): readonly (readonly [SeriesResult, SeriesResult])[] {
  if (left.length === 1 && right.length === 1) return [[left[0]!, right[0]!]]
  const bySource = new Map<string, SeriesResult[]>()
  for (const each of right) {
    const of = bySource.get(each.desc.source)
    if (of === undefined) bySource.set(each.desc.source, [each])
    else of.push(each)
  }
  return left.flatMap((each) => {
    const other = bySource.get(each.desc.source)?.shift()
    return other === undefined ? [] : [[each, other] as const]
  })
}

/**
 * Combines two series. EINVAL if instance domains or numbers of samples differ, or for + and - with a counter and another
 * semantics.
 */
export function combine(
  operator: Operator,
  left: SeriesResult,
  right: SeriesResult,
  id: string,
): SeriesResult {
  if (left.desc.indom !== right.desc.indom)
    throw new PcpError(
      'EINVAL',
      'Operands should have the same instance domain for all of the binary operators.\n',
    )
  const [isLeftCounter, isRightCounter] = [left, right].map(({ desc }) => desc.sem === PM_SEM_COUNTER)
  if (isLeftCounter !== isRightCounter && operator !== '*' && operator !== '/') {
    const [a, b] = isLeftCounter === true ? ['Left', 'right'] : ['Right', 'left']
    const text = `${a} operand is a counter and the ${b} one is not, only multiplication or division is allowed.\n`
    throw new PcpError('EINVAL', text)
  }
  const [a, b] = [withInstances(left), withInstances(right)]
  if (a.length !== b.length) {
    const text = `Invalid second sample count requested - "${b.length}" vs "${a.length}"`
    throw new PcpError('EINVAL', text)
  }
  const isInteger = [left, right].every(
    ({ desc, isComputed }) => !isComputed && desc.type >= PM_TYPE_32 && desc.type <= PM_TYPE_U64,
  )
  const keeps = isInteger && (operator === '+' || operator === '-')
  const isRecorded = [left, right].every(({ format }) => format === 'recorded')
  const isFloat = isRecorded && [left, right].every(({ desc }) => desc.type === PM_TYPE_FLOAT)
  const samples = a.map((sample, i) => combineSamples(operator, sample, b[i]!, keeps))
  const type = keeps ? Math.max(left.desc.type, right.desc.type) : isFloat ? PM_TYPE_FLOAT : PM_TYPE_DOUBLE
  return {
    ...left,
    id,
    isComputed: true,
    samples,
    format: keeps ? 'recorded' : 'e',
    desc: { ...left.desc, type, units: unitsOf(operator, left.desc.units, right.desc.units) },
  }
}

function combineSamples(operator: Operator, a: Sample, b: Sample, isExact: boolean): Sample {
  const ids: string[] = []
  const values: Value[] = []
  const isSame = a.ids.length === b.ids.length && a.ids.length === 1
  for (const [i, id] of a.ids.entries()) {
    // Values of metrics without instances are identified by the series, which differ.
    const at = isSame || a.ids[i] === b.ids[i] ? i : b.ids.indexOf(id)
    if (at < 0) continue
    ids.push(id)
    values.push(apply(operator, a.values[i]!, b.values[at]!, isExact))
  }
  return { sec: a.sec, nsec: a.nsec, ids, values }
}

function apply(operator: Operator, a: Value, b: Value, isExact: boolean): Value {
  if (isExact) {
    const [x, y] = [BigInt(a as number | bigint), BigInt(b as number | bigint)]
    return operator === '+' ? x + y : x - y
  }
  const [x, y] = [numberOf(a), numberOf(b)]
  switch (operator) {
    case '+':
      return x + y
    case '-':
      return x - y
    case '*':
      return x * y
    case '/':
      return x / y
  }
}

function unitsOf(operator: Operator, left: number, right: number): number {
  if (operator === '+' || operator === '-') return left
  const [a, b] = [unpackUnits(left), unpackUnits(right)]
  const sign = operator === '*' ? 1 : -1
  const dimension = (x: number, y: number): number => Math.max(-8, Math.min(7, x + sign * y))
  return packUnits({
    dimSpace: dimension(a.dimSpace, b.dimSpace),
    dimTime: dimension(a.dimTime, b.dimTime),
    dimCount: dimension(a.dimCount, b.dimCount),
    scaleSpace: Math.max(a.scaleSpace, b.scaleSpace),
    scaleTime: Math.max(a.scaleTime, b.scaleTime),
    scaleCount: Math.max(a.scaleCount, b.scaleCount),
  })
}
