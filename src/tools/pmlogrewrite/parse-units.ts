/** Parser of units in rules: dimensions, then scales. pmlogrewrite(1) */
import { EXTRA_UNITS, packUnits } from '../../model/units.ts'
import type { RuleParser } from './rule-source.ts'

const SPACES = ['byte', 'kbyte', 'mbyte', 'gbyte', 'tbyte', 'pbyte', 'ebyte']
const TIMES = ['nsec', 'usec', 'msec', 'sec', 'min', 'hour']

/** Parses units, followed in some clauses by an extra unit and its scale. Throws PM_ERR_ARG. */
export function parseUnits(source: RuleParser, hasExtra: boolean): number {
  const [dimSpace, dimTime, dimCount] = [dimension(source), dimension(source), dimension(source)]
  const scaleSpace = scale(source, SPACES, SPACE_MISTAKE)
  source.mark(',')
  const scaleTime = scale(source, TIMES, TIME_MISTAKE)
  source.mark(',')
  const token = source.lexer.peek()
  const isOne = source.keyword() === 'one'
  if (!isOne && (token.kind !== 'word' || !/^[+-]?\d+$/.test(token.text)))
    throw source.mistake('Expecting 0 or ONE for scaleCount field of units', token)
  source.lexer.next()
  const scaleCount = isOne ? 0 : Number(token.text)
  const extra = hasExtra ? extraUnit(source) : {}
  return packUnits({ dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount, ...extra })
}

const SPACE_MISTAKE = 'Expecting 0 or XXX (from PM_SPACE_XXX) for scaleSpace field of units'
const TIME_MISTAKE = 'Expecting 0 or XXX (from PM_TIME_XXX) for scaleTime field of units'

function dimension(source: RuleParser): number {
  const token = source.lexer.peek()
  if (token.kind !== 'word' || !/^[+-]?[0-8]$/.test(token.text))
    throw source.mistake('Expecting 3 numeric values for dim* fields of units', token)
  source.lexer.next()
  source.mark(',')
  return Number(token.text)
}

function scale(source: RuleParser, names: readonly string[], text: string): number {
  const keyword = source.keyword() ?? ''
  const at = names.indexOf(keyword)
  if (at === -1 && keyword !== '0') throw source.mistake(text, source.lexer.peek())
  source.lexer.next()
  return Math.max(0, at)
}

/** Parses `,unit,scale`, by name or number; a minus before the unit means division. */
function extraUnit(source: RuleParser): { extraUnit: number; extraScale: number } {
  source.mark(',')
  const [, sign, name] = /^(-?)(.*)$/s.exec(source.word('Expecting unit for extraUnit field of units'))!
  const unit = /^\d+$/.test(name!)
    ? Number(name)
    : EXTRA_UNITS.findIndex((extra) => extra.name === name!.toLowerCase()) + 1
  const known = EXTRA_UNITS[unit - 1]
  if (known === undefined && unit !== 0) throw source.mistake('Unknown extraUnit field of units')
  source.mark(',')
  const text = source.word('Expecting scale for extraScale field of units')
  const named = known?.scales.findIndex((one) => one.toLowerCase() === text.toLowerCase()) ?? -1
  const extraScale = /^\d+$/.test(text) ? Number(text) : named + 1
  if (extraScale > (known?.scales.length ?? 0)) throw source.mistake('Unknown extraScale field of units')
  return { extraUnit: sign === '-' ? -unit : unit, extraScale }
}
