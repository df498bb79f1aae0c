/** Generates pmie rules from general rules. docs/reference/pmie.md */
import { PcpError } from '../../model/errors.ts'
import type { GeneralRule, RuleSet, Variable } from './rule-file.ts'
import { type Changes, isActionVariable, isEnabled, seenBy } from './settings.ts'

/** Limit of nested variables, which catches recursion. */
const MAX_DEPTH = 50

/** Reports problems in one or more lines. */
type Warn = (text: string) => void

/**
 * Returns the text of all enabled rules with an action. With an undefined variable, an action becomes empty, and a rule whose
 * condition or interval uses it is left out; both are reported to `warn`.
 */
export function generateRules(set: RuleSet, changes: Changes, warn: Warn): string {
  return set.rules
    .filter((rule) => isEnabled(rule, changes))
    .flatMap((rule) => {
      try {
        return ruleTexts(rule, set, changes, warn)
      } catch (error) {
        if (!(error instanceof PcpError)) throw error
        warn(`Warning - rule ${rule.name} is left out: ${error.message}`)
        return []
      }
    })
    .join('\n')
}

function ruleTexts(rule: GeneralRule, set: RuleSet, changes: Changes, warn: Warn): string[] {
  const seen = seenBy(rule, set, changes)
  const values = new Map<string, string>()
  for (const { variable, value } of seen) values.set(variable.name, substituteValue(variable, value))
  const actions = seen.filter(({ variable, value }) => isActionVariable(variable) && value === 'yes')
  if (actions.length === 0) return []
  return combinations(rule, seen, values).map((choice, i, all) => {
    const expand = (text: string): string => expanded(text, choice, rule.name, 0)
    const list = actions.map(({ variable }) => actionText(variable, expand, rule.name, warn)).join(' & ')
    const name = all.length === 1 ? rule.name : `${rule.name}_${i + 1}`
    const predicate = expand(rule.predicate)
    const delta = expand('$delta$')
    return `// ${rule.version} ${rule.name}\ndelta = ${delta};\n${name} = \n${predicate} -> ${list};\n`
  })
}

/** Returns one set of values for each combination of the enumerated variables. */
function combinations(
  rule: GeneralRule,
  seen: ReturnType<typeof seenBy>,
  values: ReadonlyMap<string, string>,
): ReadonlyMap<string, string>[] {
  let all: ReadonlyMap<string, string>[] = [values]
  for (const name of rule.enumerate) {
    const found = seen.find(({ variable }) => variable.name === name)
    const words = found === undefined ? [] : wordsOf(found.value)
    if (words.length === 0) continue
    all = all.flatMap((one) =>
      words.map((word) => new Map([...one, [name, substituteValue(found!.variable, word)]])),
    )
  }
  return all
}

/** Formats a value for a predicate. */
function substituteValue(variable: Variable, value: string): string {
  if (isActionVariable(variable)) return variable.value
  if (variable.type === 'percent') return String(Number(value.replace(/%$/, '')))
  const mark = variable.type === 'hostlist' ? ':' : variable.type === 'instlist' ? '#' : ''
  if (mark === '') return value
  return wordsOf(value)
    .map((word) => `${mark}'${word.replace(/^[:#]/, '').replace(/^'|'$/g, '')}'`)
    .join(' ')
}

/** Splits words; quotes protect blanks. */
function wordsOf(value: string): string[] {
  return [...value.matchAll(/[:#]?'[^']*'|\S+/g)].map(([word]) => word)
}

/** Returns an action with its holdoff; `^` separates its arguments. */
function actionText(
  { type, value }: Variable,
  expand: (text: string) => string,
  rule: string,
  warn: Warn,
): string {
  const holdoff = expand('$holdoff$')
  const args = actionArgs(value, expand, rule, warn).map((arg) => `"${arg.replace(/["\\]/g, '\\$&')}"`)
  return [type, holdoff, ...args].filter((word) => word !== '').join(' ')
}

function actionArgs(
  value: string,
  expand: (text: string) => string,
  rule: string,
  warn: Warn,
): readonly string[] {
  try {
    return expand(value)
      .split('^')
      .filter((arg) => arg !== '')
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    warn(`Warning - failed to expand action for rule ${rule}\n  string: "${value}"`)
    return ['']
  }
}

function expanded(text: string, values: ReadonlyMap<string, string>, rule: string, depth: number): string {
  if (depth > MAX_DEPTH) throw new PcpError('EINVAL', `a variable of rule ${rule} contains itself`)
  return text.replace(/\$(\w+)\$?/g, (whole, name: string) => {
    const value = values.get(name)
    // Names without a trailing dollar are pmie's macros.
    if (value === undefined && !whole.endsWith('$')) return whole
    if (value === undefined) throw new PcpError('EINVAL', `variable "${name}" is undefined`)
    return expanded(value, values, rule, depth + 1)
  })
}
