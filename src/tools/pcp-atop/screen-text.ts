/**
 * Formats atop's screen as text with colours. Pure. Names and commands are untrusted: all output goes through `cut`.
 * pcp-atop(1) COLORS
 */
import { printableWord } from '../../base/printable.ts'
import type { Zone } from '../../time/zone.ts'
import type { Level, StyledText } from './layout.ts'
import { type Interval, privilegeText, SINCE_BOOT, samplePartsOf } from './sample-text.ts'
import type { Colors, Settings } from './settings.ts'

/** State of the screen. */
export interface ScreenState {
  readonly interval: Interval
  readonly settings: Settings
  readonly host: string
  readonly zone: Zone
  /** The line between host and processes; undefined for the sample's own message. */
  readonly message: string | undefined
  /** Shown instead of a message, followed by the cursor. */
  readonly prompt: string | undefined
  readonly isPaused: boolean
  /** Index of the first process shown. */
  readonly first: number
  readonly scrolled: number
  /** Text shown instead of the sample, such as the help. */
  readonly page: readonly string[] | undefined
}

/** Size of a terminal in characters. */
export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** A screen, with the total number of processes and the number that fit. */
export interface ScreenText {
  readonly text: string
  readonly count: number
  readonly visible: number
}

const ESC = '\x1b['
const RESET = `${ESC}0m`
const REVERSE = `${ESC}7m`
const COLOR_CODES: Readonly<Record<string, number>> = {
  black: 30,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  white: 37,
}
const HOME = `${ESC}H`
const ERASE_LINE = `${ESC}K`
const ERASE_BELOW = `${ESC}J`

/** Nothing is shown on narrower terminals. */
const MIN_COLUMNS = 20

/** Formats the screen, line by line from the upper left corner. */
export function screenText(state: ScreenState, { columns, rows }: ScreenSize): ScreenText {
  const { settings } = state
  const width = Math.max(MIN_COLUMNS, columns)
  const { heading, lines, table } = samplePartsOf(state.interval, { ...state, width, isDrawnOut: true })
  const paint = (text: string, color: keyof Colors): string =>
    settings.noColor ? text : `${ESC}${COLOR_CODES[settings.colors[color]] ?? 39}m${text}${RESET}`
  const screen: string[] = [`${REVERSE}${cut(heading, columns).padEnd(columns)}${RESET}`]
  if (state.page !== undefined) screen.push(...state.page.map((line) => cut(line, columns)))
  else {
    for (const pieces of lines) screen.push(paintedLine(pieces, columns, paint))
    // Even a small screen has room for the message and one process.
    screen.splice(Math.max(1, rows - 3))
    screen.push(messageLine(state, columns, paint))
  }
  const visible = Math.max(0, rows - screen.length - 1)
  const count = table.rows.length
  if (state.page === undefined && visible > 0) {
    const first = Math.min(state.first, Math.max(0, count - 1))
    const pages = `${Math.floor(first / visible) + 1}/${Math.max(1, Math.ceil(count / visible))}`
    const title = cut(table.title, columns - pages.length - 1).padEnd(Math.max(0, columns - pages.length))
    screen.push(`${REVERSE}${cut(title + pages, columns)}${RESET}`)
    for (const { text, isThread } of table.rows.slice(first, first + visible)) {
      const line = cut(text, columns)
      screen.push(isThread ? paint(line, 'thread') : line)
    }
  }
  const text = screen.slice(0, rows).join(`${ERASE_LINE}\r\n`)
  return {
    text: `${HOME}${text}${ERASE_LINE}${ERASE_BELOW}${cursorText(state, lines.length, rows)}`,
    count,
    visible,
  }
}

function cut(text: string, columns: number): string {
  return printableWord(text).slice(0, Math.max(0, columns))
}

function paintedLine(
  pieces: readonly StyledText[],
  columns: number,
  paint: (text: string, color: keyof Colors) => string,
): string {
  let left = columns
  let line = ''
  for (const { text, level } of pieces) {
    const shown = cut(text, left)
    left -= shown.length
    line += level === undefined || shown === '' ? shown : paint(shown, colorOf(level))
  }
  return line
}

function colorOf(level: Level): keyof Colors {
  return level === 'critical' ? 'critical' : 'almost'
}

function messageLine(
  { prompt, message, isPaused, interval }: ScreenState,
  columns: number,
  paint: (text: string, color: keyof Colors) => string,
): string {
  if (prompt !== undefined) return cut(prompt, columns)
  if (message !== undefined) return paint(cut(message, columns), 'info')
  if (isPaused) return paint(cut('PAUSED'.padStart(columns), columns), 'info')
  if (!interval.step.isSinceBoot) return ''
  const privilege = privilegeText()
  const gap = Math.max(1, columns - SINCE_BOOT.length - privilege.length)
  return paint(cut(`${SINCE_BOOT}${' '.repeat(gap)}${privilege}`, columns), 'info')
}

/** Places the cursor after a prompt. */
function cursorText({ prompt }: ScreenState, lines: number, rows: number): string {
  if (prompt === undefined) return `${ESC}?25l`
  const row = Math.min(lines + 2, Math.max(1, rows - 3) + 1)
  return `${ESC}${row};${prompt.length + 1}H${ESC}?25h`
}
