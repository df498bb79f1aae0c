/** Evaluates the conditions in a policy's [create] section for a host. pmlogctl(1), CLASS POLICY FILE */
import { compilePattern, PatternError } from '../../../base/pattern.ts'
import { isError, PcpError } from '../../../model/errors.ts'
import type { Pmid } from '../../../model/ids.ts'
import { PM_TYPE_STRING } from '../../../model/types.ts'
import { extract } from '../../../model/value-set.ts'
import type { Context } from '../../../pmapi/context.ts'
import { DerivedMetrics } from '../../../pmapi/derived.ts'
import type { Policy } from './policy.ts'

/** The host to test, and receivers of messages. */
export interface ConditionOptions {
  readonly host: string
  /** Connects to the host once; rejects if it cannot be reached. */
  readonly context: () => Promise<Context>
  /** Returns the file to name in messages about an expression. */
  readonly expressionFile: () => string
  readonly warn: (text: string) => void
  /** Receives results: of true conditions at level 1, of false ones at level 2. */
  readonly tell: (level: 1 | 2, text: string) => void
  /** Receives whole lines about an invalid expression. */
  readonly report: (text: string) => void
}

/** A line of the section. */
const CLAUSE = /^(exists|values|condition|hostname)\((.*)\)$/
type Verb = 'exists' | 'values' | 'condition' | 'hostname'

/** The result of a condition, and text appended to its message. */
interface Answer {
  readonly isTrue: boolean
  readonly detail?: string
}

/**
 * Does the policy want an instance for the host? Conditions are tried in order. The first true one about metrics decides, and
 * a hostname that does not match ends the search; a matching one is enough if no later condition decides otherwise.
 */
export async function shouldCreate(policy: Policy, options: ConditionOptions): Promise<boolean> {
  const { path, create = [] } = policy
  const bad = create.filter((line) => !CLAUSE.test(line))
  if (bad.length > 0)
    options.warn(`${path}: bad create clause(s) will be ignored${bad.map((line) => `\n${line}`).join('')}`)
  let isMatched = false
  for (const line of create) {
    const clause = CLAUSE.exec(line)
    if (clause === null) continue
    const [, verb, argument] = clause as unknown as [string, Verb, string]
    const { isTrue, detail = '' } = await answer(verb, argument, path, options)
    options.tell(isTrue ? 1 : 2, `${path}: host ${options.host} ${line} ${isTrue}${detail}`)
    if (verb === 'hostname') {
      if (!isTrue) return false
      isMatched = true
    } else if (isTrue) return true
  }
  return isMatched
}

async function answer(
  verb: Verb,
  argument: string,
  path: string,
  options: ConditionOptions,
): Promise<Answer> {
  if (verb === 'hostname') return { isTrue: isNamed(argument, path, options) }
  let context: Context
  try {
    context = await options.context()
  } catch (error) {
    options.tell(2, `${path}: ${PcpError.from(error).message}`)
    return { isTrue: false }
  }
  if (verb === 'exists') return { isTrue: await exists(argument, context) }
  if (verb === 'values') return { isTrue: await hasValues(argument, context, options) }
  return compute(argument, path, context, options)
}

/** Does the host's name match? An invalid pattern matches none and is reported. */
function isNamed(pattern: string, path: string, { host, warn }: ConditionOptions): boolean {
  try {
    return compilePattern(pattern).test(host)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    warn(`${path}: bad regular expression in hostname(${pattern}): ${error.message}`)
    return false
  }
}

async function exists(name: string, context: Context): Promise<boolean> {
  const [id] = await context.lookupNames([name])
  return id !== undefined && (!isError(id) || id.code === 'PM_ERR_NONLEAF')
}

/** Does a metric, any metric below a name, or an expression have values? */
async function hasValues(argument: string, context: Context, options: ConditionOptions): Promise<boolean> {
  if (!/^[\w.:]+$/.test(argument))
    return (await evaluate(argument, context, options.report, options.expressionFile)).length > 0
  if (!(await exists(argument, context))) return false
  const names = await context.traverse(argument)
  const ids = (await context.lookupNames(names)).filter((id): id is Pmid => !isError(id))
  const { sets } = await context.fetch(ids)
  return sets.some(({ status }) => status > 0)
}

async function compute(
  expression: string,
  path: string,
  context: Context,
  options: ConditionOptions,
): Promise<Answer> {
  const { warn, report, expressionFile } = options
  const values = await evaluate(expression, context, report, expressionFile)
  const [value] = values
  if (value === undefined) return { isTrue: false }
  if (values.length > 1)
    warn(
      `${path}: condition(${expression}) has ${values.length} values, not 1 as expected, using first value (${value})`,
    )
  return { isTrue: value > 0, detail: `, value ${value}` }
}

const NAME = 'pm_ctl.check'

/** Evaluates an expression on the host; empty for missing metrics and for a syntax error, which is reported. */
async function evaluate(
  expression: string,
  context: Context,
  report: (text: string) => void,
  file: () => string,
): Promise<number[]> {
  let isWrong = false
  const hear = (text: string): void => {
    isWrong = true
    report(text)
  }
  // Loaded as a file only for its messages, which show the position of the error.
  new DerivedMetrics().load(`${NAME} = ${expression}\n`, { file: file(), report: hear })
  if (isWrong) return []
  try {
    const id = await context.addDerived(NAME, expression)
    const { type } = await context.desc(id)
    const set = (await context.fetch([id])).sets[0]!
    if (type >= PM_TYPE_STRING) return []
    return Array.from({ length: Math.max(set.status, 0) }, (_, i) => Number(extract(set, i, type)))
  } catch (error) {
    if (error instanceof PcpError) return []
    throw error
  } finally {
    forget(context)
  }
}

/** Removes the definition, as the next expression uses the same name. */
function forget(context: Context): void {
  try {
    context.removeDerived(NAME)
  } catch {
    // The definition had failed.
  }
}
