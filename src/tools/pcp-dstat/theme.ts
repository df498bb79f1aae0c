/** Colours of dstat's report, as what is written to a terminal before a text. */

/** Sequences; all empty without colours. */
export interface Theme {
  readonly isOn: boolean
  readonly title: string
  readonly subtitle: string
  readonly frame: string
  /** Before times and text. */
  readonly text: string
  /** Before blanks that stand for a value. */
  readonly missing: string
  readonly nothing: string
  readonly unit: string
  /** Ends a line. */
  readonly rest: string
  readonly reset: string
  readonly underline: string
  /** Of a value by its size. */
  step(n: number): string
}

const ESC = '\x1b['
const BRIGHT = ['1;31', '1;33', '1;32', '1;34', '1;36', '1;37', '0;31', '0;32']
const DARK = ['0;31', '0;35', '0;32', '0;34', '0;36', '1;30', '1;31', '1;32']

const shared = {
  isOn: true,
  title: `${ESC}0;34m`,
  frame: `${ESC}0;34m`,
  rest: `${ESC}90m`,
  reset: `${ESC}0;0m`,
  underline: `${ESC}4m`,
}

const steps =
  (colors: readonly string[]) =>
  (n: number): string =>
    `${ESC}${colors[((n % colors.length) + colors.length) % colors.length]}m`

/** For dark backgrounds. */
export const ON_DARK: Theme = {
  ...shared,
  subtitle: `${ESC}1;34m`,
  text: `${ESC}0;37m`,
  missing: `${ESC}0;37m`,
  nothing: `${ESC}90m`,
  unit: `${ESC}90m`,
  step: steps(BRIGHT),
}

/** For light backgrounds. */
export const ON_LIGHT: Theme = {
  ...shared,
  subtitle: `${ESC}0;36m`,
  text: `${ESC}0;30m`,
  missing: `${ESC}0;30m`,
  nothing: `${ESC}0;30m`,
  unit: `${ESC}0;30m`,
  step: steps(DARK),
}

/** For files and pipes. */
export const PLAIN: Theme = {
  isOn: false,
  title: '',
  subtitle: '',
  frame: '',
  text: '',
  missing: '',
  nothing: '',
  unit: '',
  rest: '',
  reset: '',
  underline: '',
  step: () => '',
}
