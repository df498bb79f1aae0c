/** What a page of charts is made of. Its vocabulary is that of PCP's view files. docs/guide/charts.md */
import { signal } from '@preact/signals'

/** Numbers that are percent, or shares of one. */
export type PlainUnit = 'percent' | 'share'

/** Which instances of a metric; without one all that there are. */
export interface InstanceChoice {
  readonly mode: 'instance' | 'matching' | 'not-matching'
  /** A name, or a regular expression that is searched for in names. */
  readonly text: string
}

/** One metric in a chart. */
export interface Plot {
  readonly metric: string
  /** `metric` is a name of the page's own for this expression. */
  readonly expr?: string
  /** Key of a source (`sourceKey`); default: the one the page shows. */
  readonly source?: string
  readonly instances?: InstanceChoice
  /** With PCP's wildcards %i %I %h %H %m %M; default: the metric and the instance. */
  readonly legend?: string
  /** Any colour of CSS; default: the next of the palette. */
  readonly color?: string
  /** A metric the source does not know is no mistake. */
  readonly optional?: boolean
  /** What its values without units are; default: what those of the chart are. */
  readonly unit?: PlainUnit
}

/** One chart. */
export interface Chart {
  /** Unique on the page. */
  readonly id: string
  /** With PCP's wildcards %h %H. */
  readonly title: string
  /** Id of its kind. */
  readonly style: string
  /** Fixed limits of the axis, in the units of the metrics; default: what the values need. */
  readonly scale?: readonly [low: number, high: number]
  readonly legend: boolean
  /** What values without units are: PCP has no units for shares. */
  readonly unit?: PlainUnit
  readonly plots: readonly Plot[]
  /** Seconds between samples when that is not the page's interval. */
  readonly every?: number
  /** Takes the whole width of the page. */
  readonly wide?: boolean
  /** What stands above it and those that follow with the same: a tab of PCP's view files. */
  readonly tab?: string
  /** Keys of lines that are not drawn. */
  readonly hidden?: readonly string[]
}

/** A page of charts. */
export interface View {
  readonly name: string
  readonly charts: readonly Chart[]
}

/** How a page shows several sources. */
export type Layout = 'beside' | 'over'

const HOST = 'host:'

/** The key of a host as a source. */
export const hostKey = (spec: string): string => `${HOST}${spec}`

/** The host that a key names; undefined for archives. */
export function hostOf(key: string): string | undefined {
  return key.startsWith(HOST) ? key.slice(HOST.length) : undefined
}

let made = 0

/** An id no chart of this page has. */
export function newId(): string {
  made++
  return `c${Date.now().toString(36)}${made.toString(36)}`
}

/** A name for an expression: the same each time. */
export function derivedName(expr: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < expr.length; i++) hash = Math.imul(hash ^ expr.charCodeAt(i), 0x01000193) >>> 0
  return `page.x${hash.toString(36)}`
}

/** Is this instance chosen? A pattern that cannot be read chooses none. */
export function isChosen(choice: InstanceChoice | undefined, name: string): boolean {
  if (choice === undefined) return true
  const { mode, text } = choice
  if (mode === 'instance') return name === text || name.split(' ')[0] === text
  const quick = quickPattern(text)
  const found = quick === undefined ? matcher.value?.(text, name) : quick.test(name)
  return found === (mode === 'matching')
}

/** Tells whether a pattern is found in a name, in a time that is bounded; undefined where the pattern cannot be read. */
export type Matcher = (text: string, name: string) => boolean | undefined

/** Comes with the rest of the page; until then such patterns choose nothing. */
const matcher = signal<Matcher | undefined>(undefined)

/** Gives what patterns are matched with that the browser's own expressions could take for ever with. */
export function bringMatcher(found: Matcher): void {
  matcher.value = found
}

/**
 * Views come by addresses that others made: one repetition, of a character, is all that is left to the browser's own expressions, and no
 * escapes and brackets that mean something else there.
 */
function isQuick(text: string): boolean {
  return text.length <= 100 && !/\\[^dw.]|\[(?!\^?[\w-]+\])|\{|\(\?|\)[*+?]|\(.*\(|[*+?].*[*+?]/s.test(text)
}

const patterns = new Map<string, RegExp | undefined>()

function quickPattern(text: string): RegExp | undefined {
  if (patterns.has(text)) return patterns.get(text)
  let pattern: RegExp | undefined
  try {
    if (isQuick(text)) pattern = new RegExp(text)
  } catch {}
  patterns.set(text, pattern)
  return pattern
}

/** What stands for the wildcards of titles and legends. */
export interface WildcardValues {
  readonly host: string
  readonly metric?: string
  readonly instance?: string
}

/** Fills in %h %H (host, short and whole), %m %M (metric, last two parts and whole), %i %I (instance, first word and whole). */
export function fillIn(template: string, { host, metric = '', instance = '' }: WildcardValues): string {
  return template.replace(/%([hHmMiI])/g, (_, letter: string) => {
    switch (letter) {
      case 'h':
        return /^[\d.]+$/.test(host) ? host : host.split('.')[0]!
      case 'H':
        return host
      case 'm':
        return metric.split('.').slice(-2).join('.')
      case 'M':
        return metric
      case 'i':
        return instance.split(' ')[0]!
      default:
        return instance
    }
  })
}

/** The title of a chart, with wildcards; of one that has none the first of its metrics. */
export function titleOf({ title, plots }: Pick<Chart, 'title' | 'plots'>): string {
  const [first] = plots
  if (title !== '' || first === undefined) return title
  const name = first.expr ?? first.metric
  return plots.length === 1 ? name : `${name} …`
}

/** The label of one line of a chart. */
export function legendOf(plot: Plot, host: string, instance: string | undefined): string {
  const metric = plot.expr ?? plot.metric
  const values = { host, metric, ...(instance === undefined ? {} : { instance }) }
  if (plot.legend !== undefined) {
    const text = fillIn(plot.legend, values)
    const isNamed = instance === undefined || /%[iI]/.test(plot.legend) || plot.instances?.mode === 'instance'
    return isNamed ? text : `${text} ${instance}`
  }
  const short = plot.expr ?? metric.split('.').slice(-2).join('.')
  return instance === undefined ? short : `${short} ${instance}`
}

/** The title of a plot's column where each row is an instance. */
export function columnTitle({ legend, metric, expr }: Plot): string {
  return legend?.replace(/\s*%[iI]\s*/g, '') || expr || metric.split('.').at(-1)!
}
