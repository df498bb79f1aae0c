/** What users changed: values of variables, for single rules and for all. docs/pmie.md */
import { PcpError } from '../../model/errors.ts'
import type { GeneralRule, RuleSet, Variable } from './rule-file.ts'

/** Stands for all rules at once. */
export const GLOBAL = 'global'
/** Whether a rule, or an action, is on. */
export const ENABLED = 'enabled'

const ACTION_TYPES: ReadonlySet<string> = new Set(['print', 'shell', 'alarm', 'syslog'])

/** Is a variable an action, which is on or off? */
export function isActionVariable({ type }: Variable): boolean {
  return ACTION_TYPES.has(type)
}

/** Changes by the name of a rule, or `global`, and by variable, in the order they were made. */
export type Changes = Map<string, Map<string, string>>

/** A variable as a rule sees it. */
export interface SeenVariable {
  readonly variable: Variable
  readonly value: string
  /** Is it one of all rules that this rule does not change? */
  readonly isGlobal: boolean
}

/** Everything a rule sees, its own variables first. `rule` undefined: variables of all rules. */
export function seenBy(
  rule: GeneralRule | undefined,
  { globals }: RuleSet,
  changes: Changes,
): SeenVariable[] {
  const own = changes.get(rule?.name ?? GLOBAL)
  const common = changes.get(GLOBAL)
  const seen: SeenVariable[] = (rule?.variables ?? []).map((variable) => ({
    variable,
    value: own?.get(variable.name) ?? plainValue(variable),
    isGlobal: false,
  }))
  for (const variable of globals) {
    if (seen.some((each) => each.variable.name === variable.name)) continue
    const changed = own?.get(variable.name)
    const value = changed ?? common?.get(variable.name) ?? plainValue(variable)
    seen.push({ variable, value, isGlobal: rule !== undefined && changed === undefined })
  }
  return seen
}

function plainValue(variable: Variable): string {
  return isActionVariable(variable) ? (variable.isEnabled ? 'yes' : 'no') : variable.value
}

/** Is a rule on? */
export function isEnabled(rule: GeneralRule, changes: Changes): boolean {
  const changed = changes.get(rule.name)?.get(ENABLED)
  return changed === undefined ? rule.isEnabled : changed === 'yes'
}

/** A value as it is listed and kept. */
export function shownValue({ type }: Variable, value: string): string {
  if (ACTION_TYPES.has(type)) return value
  if (type === 'percent') return `${Number(value.replace(/%$/, ''))}%`
  return type === 'double' || type === 'integer' || type === 'unsigned'
    ? value
    : `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** Checks a new value; resolves to how it is kept. Throws PcpError with PCP's message. */
export function checkValue(variable: Variable | undefined, name: string, value: string): string {
  const refuse = (what: string): PcpError =>
    new PcpError('EINVAL', `error - change aborted - ${name}'s value is invalid.\n    It should be ${what}.`)
  if (variable === undefined || isActionVariable(variable)) {
    if (value === 'yes' || value === 'no') return value
    throw new PcpError(
      'EINVAL',
      `error - change aborted - input is invalid - expected yes or no, got "${value}"`,
    )
  }
  switch (variable.type) {
    case 'percent': {
      const number = value.replace(/%$/, '')
      if (isNumber(number) && Number(number) >= 0 && Number(number) <= 100) return String(Number(number))
      throw refuse('a percentage between 0.0 and 100.0')
    }
    case 'double':
      if (isNumber(value)) return value
      throw refuse('a real number')
    case 'integer':
      if (/^[+-]?\d+$/.test(value)) return value
      throw refuse('an integer number')
    case 'unsigned':
      if (/^\+?\d+$/.test(value)) return value
      throw refuse('a positive integer number')
    default:
      return value
  }
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text))
}
