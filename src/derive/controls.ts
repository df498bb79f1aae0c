/** Controls of derived metrics: `#control` lines and PCP_DERIVED_CONTROL. pmSetDerivedControl(3), docs/reference/derived-metrics.md */
import { PcpError } from '../model/errors.ts'
import type { DerivedControls } from './definitions.ts'

type Flag = 'optionNovalue' | 'debugSyntax' | 'debugSemantics' | 'debugEval'

/** Properties by lower-case name: limits, and flags of 0 or 1. */
const LIMITS: ReadonlyMap<string, 'globalLimit' | 'contextLimit'> = new Map([
  ['global_limit', 'globalLimit'],
  ['context_limit', 'contextLimit'],
])
const FLAGS: ReadonlyMap<string, Flag> = new Map([
  ['option_novalue', 'optionNovalue'],
  ['debug_syntax', 'debugSyntax'],
  ['debug_semantics', 'debugSemantics'],
  ['debug_eval', 'debugEval'],
])

/**
 * Sets a control. PM_ERR_ARG for an unknown name or an invalid value, PM_ERR_AGAIN if the environment has set it.
 * @see pmSetDerivedControl(3)
 */
export function setControl(
  controls: DerivedControls,
  name: string,
  value: number,
  locked: ReadonlySet<string> = new Set(),
): void {
  const lower = name.toLowerCase()
  const [limit, flag] = [LIMITS.get(lower), FLAGS.get(lower)]
  if (limit === undefined && flag === undefined) throw unknownControl(name)
  if (!(flag === undefined ? value === -1 || value > 0 : value === 0 || value === 1))
    throw new PcpError('PM_ERR_ARG', `${value} is not a valid value of derived metric control "${name}"`)
  if (locked.has(lower)) throw new PcpError('PM_ERR_AGAIN', `${name} is set by $PCP_DERIVED_CONTROL`)
  if (flag !== undefined) controls[flag] = value === 1
  else if (limit !== undefined) controls[limit] = value
}

function unknownControl(name: string): PcpError {
  return new PcpError('PM_ERR_ARG', `Unknown derived metric control "${name}"`)
}

/** Returns the value of a control. PM_ERR_ARG for an unknown one. @see pmGetDerivedControl(3) */
export function getControl(controls: DerivedControls, name: string): number {
  const lower = name.toLowerCase()
  const key = LIMITS.get(lower) ?? FLAGS.get(lower)
  if (key === undefined) throw unknownControl(name)
  return Number(controls[key])
}

/** Sets the controls of a list such as `global_limit=5,option_novalue=1`; `report` is called with a line for each error. */
export function setControls(
  controls: DerivedControls,
  list: string | undefined,
  report: (severity: 'Warning' | 'Error', what: string) => void,
  locked: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const set = new Set<string>()
  for (const setting of list?.split(',') ?? []) {
    const equals = setting.indexOf('=')
    if (equals < 0) {
      report('Error', `missing '=' in derived metric control (${setting})`)
      continue
    }
    const [name, value] = [setting.slice(0, equals), setting.slice(equals + 1)]
    const lower = name.toLowerCase()
    if (!LIMITS.has(lower) && !FLAGS.has(lower)) report('Warning', `unknown derived metric control (${name})`)
    else if (!/^-?\d+$/.test(value))
      report('Warning', `bad value (${value}) for derived metric control (${name})`)
    else {
      try {
        setControl(controls, lower, Number(value), locked)
        set.add(lower)
      } catch (error) {
        const { text } = PcpError.from(error)
        report('Warning', `failed to set derived metric control ${name}=${value}: ${text}`)
      }
    }
  }
  return set
}
