/** Controls of derived metrics: `#control` lines and PCP_DERIVED_CONTROL. pmSetDerivedControl(3), docs/derived.md */
import { PcpError } from '../model/errors.ts'
import type { DerivedControls } from './definitions.ts'

/** Names in lower case, and what each one may be. The reference's tracing is `-D derive` here, so its controls change nothing. */
const CONTROLS: Readonly<Record<string, { readonly isFlag: boolean; readonly key?: keyof DerivedControls }>> =
  {
    global_limit: { isFlag: false, key: 'globalLimit' },
    context_limit: { isFlag: false, key: 'contextLimit' },
    option_novalue: { isFlag: true, key: 'optionNovalue' },
    debug_syntax: { isFlag: true },
    debug_semantics: { isFlag: true },
    debug_eval: { isFlag: true },
  }

/**
 * Sets a control. PM_ERR_ARG for an unknown name or a value it cannot have, PM_ERR_AGAIN when the environment has set it.
 * @see pmSetDerivedControl(3)
 */
export function setControl(
  controls: DerivedControls,
  name: string,
  value: number,
  locked: ReadonlySet<string> = new Set(),
): void {
  const lower = name.toLowerCase()
  const control = Object.hasOwn(CONTROLS, lower) ? CONTROLS[lower] : undefined
  if (control === undefined) throw new PcpError('PM_ERR_ARG', `Unknown derived metric control "${name}"`)
  const { isFlag, key } = control
  if (!(isFlag ? value === 0 || value === 1 : value === -1 || value > 0))
    throw new PcpError('PM_ERR_ARG', `${value} is no value of derived metric control "${name}"`)
  if (locked.has(lower)) throw new PcpError('PM_ERR_AGAIN', `${name} is set by $PCP_DERIVED_CONTROL`)
  if (key === 'optionNovalue') controls.optionNovalue = value === 1
  else if (key !== undefined) controls[key] = value
}

/** The value of a control. PM_ERR_ARG for one that is unknown or has none. @see pmGetDerivedControl(3) */
export function getControl(controls: DerivedControls, name: string): number {
  const key = CONTROLS[name.toLowerCase()]?.key
  if (key === undefined) throw new PcpError('PM_ERR_ARG', `Unknown derived metric control "${name}"`)
  return Number(controls[key])
}

/** Sets the controls in a list such as `global_limit=5,option_novalue=1`; `report` gets a line for each that is wrong. */
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
    if (!Object.hasOwn(CONTROLS, lower)) report('Warning', `unknown derived metric control (${name})`)
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
