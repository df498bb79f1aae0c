/** Changed values of variables, per rule and global. docs/reference/pmie.md */
import { PcpError } from '../../model/errors.ts'
import type { GeneralRule, RuleSet, Variable } from './rule-file.ts'

/** Pseudo rule of the global variables. */
export const GLOBAL = 'global'
/** Variable that enables a rule or an action. */
export const ENABLED = 'enabled'

const ACTION_TYPES: ReadonlySet<string> = new Set(['print', 'shell', 'alarm', 'syslog'])

/** Returns whether a variable is an action, which can be enabled. */
export function isActionVariable({ type }: Variable): boolean {
  return ACTION_TYPES.has(type)
}

/** Changes by rule or `global`, then by variable, in the order they were made. */
export type Changes = Map<string, Map<string, string>>

/** A variable with its value in a rule. */
export interface SeenVariable {
  readonly variable: Variable
  readonly value: string
  /** Whether it is a global variable not overridden by the rule. */
  readonly isGlobal: boolean
}

/** Returns all variables of a rule, its own first; without a rule the global ones. */
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

/** Returns whether a rule is enabled. */
export function isEnabled(rule: GeneralRule, changes: Changes): boolean {
  const changed = changes.get(rule.name)?.get(ENABLED)
  return changed === undefined ? rule.isEnabled : changed === 'yes'
}

/** Formats a value as listed and stored. */
export function shownValue({ type }: Variable, value: string): string {
  if (ACTION_TYPES.has(type)) return value
  if (type === 'percent') return `${Number(value.replace(/%$/, ''))}%`
  return type === 'double' || type === 'integer' || type === 'unsigned'
    ? value
    : `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** Checks a new value and returns its stored form. Throws PcpError with PCP's message. */
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
