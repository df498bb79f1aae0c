/** Colours of dstat's report, as terminal sequences that precede a text. */
import { printableWord } from '../../base/printable.ts'

/** Terminal sequences; empty without colours. */
export interface Theme {
  readonly isOn: boolean
  readonly title: string
  readonly subtitle: string
  readonly frame: string
  /** Before times and text. */
  readonly text: string
  /** Before blanks for a missing value. */
  readonly missing: string
  readonly zero: string
  readonly unit: string
  /** Ends a line. */
  readonly lineEnd: string
  readonly reset: string
  readonly underline: string
  /** Between the titles of groups. */
  readonly join: string
  /** Percentages. */
  readonly done: string
  /** Invalid values and missed samples. */
  readonly error: string
  /** Colour of a value by its magnitude. */
  step(n: number): string
  /** Makes foreign text safe to print with these sequences. */
  data(text: string): string
  /** For intermediate lines. */
  readonly interim: Theme
}

const ESC = '\x1b['
const BRIGHT = ['1;31', '1;33', '1;32', '1;34', '1;36', '1;37', '0;31', '0;32']
const DIM = ['0;31', '0;33', '0;32', '0;34', '0;36', '0;37', '1;31', '1;32']
const DARK = ['0;31', '0;35', '0;32', '0;34', '0;36', '0;30', '1;31', '1;32']
const LIVELY = ['1;31', '1;35', '1;32', '1;34', '1;36', '90', '0;31', '0;32']

const shared = {
  isOn: true,
  data: printableWord,
  title: `${ESC}0;34m`,
  frame: `${ESC}0;34m`,
  lineEnd: `${ESC}90m`,
  reset: `${ESC}0;0m`,
  underline: `${ESC}4m`,
  join: `${ESC}0;34m-${ESC}0;34m`,
  error: `${ESC}1;37m${ESC}41m`,
}

/** Colours that differ between backgrounds, and for intermediate lines. */
interface Shades {
  readonly subtitle: string
  readonly text: string
  readonly unit: string
  readonly done: string
  readonly steps: readonly string[]
}

function themeOf({ subtitle, text, unit, done, steps }: Shades, interim: Shades | undefined): Theme {
  const theme = {
    ...shared,
    subtitle: `${ESC}${subtitle}m`,
    text: `${ESC}${text}m`,
    missing: `${ESC}${text}m`,
    zero: `${ESC}${unit}m`,
    unit: `${ESC}${unit}m`,
    done: `${ESC}${done}m`,
    step: (n: number): string => `${ESC}${steps[((n % steps.length) + steps.length) % steps.length]}m`,
  }
  return {
    ...theme,
    get interim(): Theme {
      return interim === undefined ? this : themeOf(interim, undefined)
    },
  }
}

/** For dark backgrounds. */
export const ON_DARK: Theme = themeOf(
  { subtitle: '1;34', text: '0;37', unit: '90', done: '1;37', steps: BRIGHT },
  { subtitle: '1;34', text: '90', unit: '90', done: '0;37', steps: DIM },
)

/** For light backgrounds. */
export const ON_LIGHT: Theme = themeOf(
  { subtitle: '0;36', text: '0;30', unit: '0;30', done: '0;30', steps: DARK },
  { subtitle: '0;36', text: '90', unit: '90', done: '90', steps: LIVELY },
)

/** For files and pipes. */
export const PLAIN: Theme = {
  isOn: false,
  data: (text) => text,
  title: '',
  subtitle: '',
  frame: '',
  text: '',
  missing: '',
  zero: '',
  unit: '',
  lineEnd: '',
  reset: '',
  underline: '',
  join: ' ',
  done: '',
  error: '',
  step: () => '',
  get interim(): Theme {
    return this
  },
}
