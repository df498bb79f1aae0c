/** The data model of views, with the vocabulary of PCP view files. docs/how-to/charts.md */
import { signal } from '@preact/signals'
import { firstWord } from '../../model/instance-name.ts'

/** Meaning of dimensionless numbers: percent, or shares of one. */
export type PlainUnit = 'percent' | 'share'

/** Selects instances of a metric; without one, all are shown. */
export interface InstanceChoice {
  readonly mode: 'instance' | 'matching' | 'not-matching'
  /** An instance name, or a regular expression that is searched for in names. */
  readonly text: string
}

/** A metric in a chart. */
export interface Plot {
  readonly metric: string
  /** Expression behind `metric`, which is then a name made up by the page. */
  readonly expr?: string
  /** Key of a source, see `hostKey`; default: the current one. */
  readonly source?: string
  readonly instances?: InstanceChoice
  /** May contain PCP's wildcards %i %I %h %H %m %M; default: the metric and the instance. */
  readonly legend?: string
  /** CSS colour; default: the next of the palette. */
  readonly color?: string
  /** Is it acceptable if the source does not have the metric? */
  readonly optional?: boolean
  /** Meaning of dimensionless values; default: that of the chart. */
  readonly unit?: PlainUnit
}

/** A chart. */
export interface Chart {
  /** Unique on the page. */
  readonly id: string
  /** May contain PCP's wildcards %h %H. */
  readonly title: string
  /** Id of its kind. */
  readonly style: string
  /** Fixed limits of the axis, in the units of the metrics; default: fitted to the values. */
  readonly scale?: readonly [low: number, high: number]
  readonly legend: boolean
  /** Meaning of dimensionless values; PCP has no units for shares. */
  readonly unit?: PlainUnit
  readonly plots: readonly Plot[]
  /** Seconds between samples, if different from the page's interval. */
  readonly every?: number
  /** Shown instead of values if the source has none of the metrics: what to do. */
  readonly hint?: string
  /** Takes the full width of the page. */
  readonly wide?: boolean
  /** Heading of this chart and the following ones with the same value: a tab of PCP's view files. */
  readonly tab?: string
  /** Keys of lines that are not drawn. */
  readonly hidden?: readonly string[]
}

/** A page of charts. */
export interface View {
  readonly name: string
  readonly charts: readonly Chart[]
}

/** Layout of several sources. */
export type Layout = 'beside' | 'over'

const HOST = 'host:'

/** Returns the source key of a host. */
export const hostKey = (spec: string): string => `${HOST}${spec}`

/** Returns the host of a source key; undefined for archives. */
export function hostOf(key: string): string | undefined {
  return key.startsWith(HOST) ? key.slice(HOST.length) : undefined
}

const URL_KEY = 'url:'

/** Returns the source key of an archive on a web server. */
export const urlKey = (url: string): string => `${URL_KEY}${url}`

/** Returns the address of an archive on a web server from its source key; undefined for others. */
export function urlOf(key: string): string | undefined {
  return key.startsWith(URL_KEY) ? key.slice(URL_KEY.length) : undefined
}

let made = 0

/** Returns an id that no chart of this page has. */
export function newId(): string {
  made++
  return `c${Date.now().toString(36)}${made.toString(36)}`
}

/** Returns a number for a text, always the same one (FNV-1a, 32 bits). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash
}

/** Returns a metric name for an expression, always the same one. */
export const derivedName = (expr: string): string => `page.x${hashOf(expr).toString(36)}`

/** Checks whether an instance is selected. An invalid pattern selects none. */
export function isChosen(choice: InstanceChoice | undefined, name: string): boolean {
  if (choice === undefined) return true
  const { mode, text } = choice
  if (mode === 'instance') return name === text || firstWord(name) === text
  const quick = quickPattern(text)
  const found = quick === undefined ? matcher.value?.(text, name) : quick.test(name)
  return found === (mode === 'matching')
}

/** Checks whether a pattern occurs in a name, in bounded time; undefined if the pattern is invalid. */
export type Matcher = (text: string, name: string) => boolean | undefined

/** In the lazily loaded part; until it is loaded, such patterns select nothing. */
const matcher = signal<Matcher | undefined>(undefined)

/** Installs the matcher for patterns that could take exponential time in the browser's regular expressions. */
export function setMatcher(found: Matcher): void {
  matcher.value = found
}

/**
 * Links may come from untrusted people, so the browser's regular expressions only get patterns with at most one repetition, of a single
 * character, and without escapes and brackets that have another meaning there.
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

/** Values of the wildcards in titles and legends. */
export interface WildcardValues {
  readonly host: string
  readonly metric?: string
  readonly instance?: string
}

/** Expands %h %H (host, short and full), %m %M (metric, last two parts and full), %i %I (instance, first word and full). */
export function expandWildcards(
  template: string,
  { host, metric = '', instance = '' }: WildcardValues,
): string {
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
        return firstWord(instance)
      default:
        return instance
    }
  })
}

/** Returns the title template of a chart; without a title, the first metric. */
export function titleOf({ title, plots }: Pick<Chart, 'title' | 'plots'>): string {
  const [first] = plots
  if (title !== '' || first === undefined) return title
  const name = first.expr ?? first.metric
  return plots.length === 1 ? name : `${name} …`
}

/** Returns the label of a line. `isShared`: another line's instance has the same first word, so that %i is the full name too. */
export function legendOf(plot: Plot, host: string, instance: string | undefined, isShared = false): string {
  const metric = plot.expr ?? plot.metric
  const values = { host, metric, ...(instance === undefined ? {} : { instance }) }
  if (plot.legend !== undefined) {
    const text = expandWildcards(isShared ? plot.legend.replaceAll('%i', '%I') : plot.legend, values)
    const isNamed = instance === undefined || /%[iI]/.test(plot.legend) || plot.instances?.mode === 'instance'
    return isNamed ? text : `${text} ${instance}`
  }
  const short = plot.expr ?? metric.split('.').slice(-2).join('.')
  return instance === undefined ? short : `${short} ${instance}`
}

/** Returns the column title of a plot in tables, whose rows are instances. */
export function columnTitle({ legend, metric, expr }: Plot): string {
  return legend?.replace(/\s*%[iI]\s*/g, '') || expr || metric.split('.').at(-1)!
}
