/** Draws arguments of options from a source: times, intervals, zones, instances, units and files. */
import type { Random } from '../random.ts'
import type { MetricFacts, SourceFacts } from './archive-facts.ts'

/** What arguments are drawn with. */
export interface Drawing {
  readonly random: Random
  readonly source: SourceFacts
  /** Metrics that the line is about. */
  readonly metrics: readonly MetricFacts[]
  readonly command: string
}

const NUMERIC = new Set([0, 1, 2, 3, 4, 5])
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'EST5EDT',
  'AEST-10',
  'Nowhere/None',
  'PST8PDT',
]
const ALIGNMENTS = ['1s', '5sec', '10s', '30s', '1min', '5min', '15min', '1hour', '1day', '7s', '0']
const COUNT_UNITS = [
  'count',
  'count x 10',
  'count x 10^3',
  'count x 10^6',
  'count x 10^-1',
  'Kcount',
  'nosuch',
]
const SPACE_UNITS = ['byte', 'bytes', 'KB', 'Kbyte', 'MB', 'Mbyte', 'GB', 'TB', 'kb', 'nosuch']
const TIME_UNITS = ['ns', 'nanosec', 'us', 'ms', 'millisec', 's', 'sec', 'min', 'hour', 'nosuch']
const STAMP_FORMATS = ['%H:%M:%S', '%Y-%m-%dT%H:%M:%S', '%s', '%c', '%d.%m.%y %H', '%A %j', '%%', 'x']

/** Draws a whole number as text, now and then one at the edge or none at all. */
export function wholeNumber({ random }: Drawing, low: number, high: number): string {
  if (random.chance(0.03)) return random.pick(['0', '-1', 'x', '', '1.5', '99999999999'])
  return String(random.int(low, high))
}

/** Draws a moment in seconds: mostly within the source, otherwise its ends, before or after it. */
function moment({ random, source: { start, end } }: Drawing): number {
  const length = Math.max(end - start, 1)
  const chance = random.next()
  if (chance < 0.7) return start + length * random.next()
  if (chance < 0.8) return random.pick([start, end])
  return chance < 0.9 ? start - length * random.next() : end + length * random.next()
}

/** Draws a time in one of the forms of PCPIntro(1). */
export function time(drawing: Drawing): string {
  const { random, source } = drawing
  if (random.chance(0.03)) return random.pick(['@', 'x', '+', '@25:00', '0', '+0'])
  const at = moment(drawing)
  const date = new Date(at * 1000)
  const iso = Number.isNaN(date.getTime()) ? '' : date.toISOString()
  const minutes = iso.slice(11, random.pick([16, 19]))
  // Fractions are powers of two: the reference reads times as floating point numbers.
  const clock = minutes.length === 8 && random.chance(0.3) ? `${minutes}.5` : minutes
  const [, weekday, day, month, year] = /^(\w+), (\d+) (\w+) (\d+)/.exec(date.toUTCString()) ?? []
  const forms = [
    `@${clock}`,
    `@${clock}`,
    `@${iso.slice(0, 10)} ${minutes}`,
    `@${weekday} ${month} ${day} ${clock} ${year}`,
    `@${month} ${day} ${clock}`,
    `@${iso.slice(0, 10)}`,
    `${at < source.start ? '' : '+'}${span(random, Math.abs(at - source.start))}`,
    span(random, Math.abs(at - source.start)),
    `-${span(random, Math.abs(source.end - at))}`,
  ]
  return random.pick(forms)
}

/** A span of seconds with a unit that suits it. */
function span(random: Random, seconds: number): string {
  if (seconds < 1) return random.pick([`${Math.round(seconds * 8) * 125}msec`, eighths(seconds), '1'])
  if (seconds > 7200 && random.chance(0.5))
    return `${Math.round(seconds / 900) / 4}${random.pick(['h', 'hour', 'hours'])}`
  if (seconds > 120 && random.chance(0.6))
    return `${Math.round(seconds / 15) / 4}${random.pick(['m', 'min', 'mins', 'minute'])}`
  return `${random.chance(0.6) ? Math.round(seconds) : eighths(seconds)}${random.pick(['', 's', 'sec', 'seconds'])}`
}

function eighths(seconds: number): string {
  return String(Math.round(seconds * 8) / 8)
}

/** Draws an interval that divides the source into up to so many parts. */
export function interval({ random, source: { start, end } }: Drawing, parts = 60): string {
  if (random.chance(0.02)) return random.pick(['0', 'x', '-1', '1min30', '0.0001', ''])
  return span(random, Math.max((end - start) / random.int(1, parts), 0.05))
}

/** Draws the unit of an alignment. */
export function alignment({ random }: Drawing): string {
  return random.pick(ALIGNMENTS)
}

/** Draws the name or rules of a time zone. */
export function zone({ random }: Drawing): string {
  return random.pick(ZONES)
}

/** Draws a metric's name: of the line's own mostly, otherwise any, a name space above it, or an unknown one. */
export function anyMetric({ random, source, metrics }: Drawing): string {
  const chance = random.next()
  if (chance < 0.6 && metrics.length > 0) return random.pick(metrics).name
  if (chance < 0.9) return random.pick(source.metrics).name
  if (chance < 0.96) return prefixOf(random, random.pick(source.metrics).name)
  return random.pick(['no.such.metric', 'kernel', 'x', ''])
}

/** A name space that a metric is in. */
export function prefixOf(random: Random, name: string): string {
  const words = name.split('.')
  return words.slice(0, random.int(1, Math.max(words.length - 1, 1))).join('.')
}

/** Draws names of instances of the line's metrics. */
function someInstances({ random, source, metrics }: Drawing): readonly string[] {
  const own = metrics.filter(({ instances }) => instances.length > 0)
  const others = source.metrics.filter(({ instances }) => instances.length > 0)
  const from = own.length > 0 ? own : others
  if (from.length === 0 || random.chance(0.04)) return ['nosuch']
  const { instances } = random.pick(from)
  return Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => random.pick(instances))
}

/** Draws a list of instances as pmval and its like read it. */
export function instanceList(drawing: Drawing): string {
  return someInstances(drawing)
    .map((name) => (drawing.random.chance(0.15) ? name.split(' ')[0]! : name))
    .map((name) => (/[ ,]/.test(name) ? `"${name}"` : name))
    .join(',')
}

/** Draws a list of instances as pmrep reads it: patterns too. */
export function instancePatterns(drawing: Drawing): string {
  const { random } = drawing
  if (random.chance(0.75)) return instanceList(drawing)
  const name = someInstances(drawing)[0]!
  return `${name.slice(0, Math.max(1, name.length - 1))}${random.pick(['.*', '.', '[0-9a-z]', '.+', '$'])}`
}

/** Draws a metric of a report's operands: pmrep's METRICSPEC of the short form. */
export function metricSpec(drawing: Drawing, name: string): string {
  const { random } = drawing
  if (random.chance(0.75)) return name
  const fields = [
    random.pick(['', 'label', 'a b', '%']),
    random.pick(['', '', instanceList(drawing).replaceAll(',', '')]),
    random.pick(['', '', 'raw', ...COUNT_UNITS, ...SPACE_UNITS, ...TIME_UNITS, 'KB/s']),
    random.pick(['', '', 'raw', 'instant']),
    random.pick(['', '', '3', '8', '20']),
    random.pick(['', '0', '4', 'x']),
    random.pick(['', '2', '-3']),
  ]
  return [name, ...fields.slice(0, random.int(1, fields.length))].join(',')
}

/** Draws an expression of a derived metric. */
export function expression({ random, source, metrics }: Drawing): string {
  const numeric = [...metrics, ...source.metrics].filter(({ type }) => NUMERIC.has(type))
  if (numeric.length === 0) return '1'
  const near = metrics.filter(({ type }) => NUMERIC.has(type))
  const name = (): string => random.pick(near.length > 0 && random.chance(0.7) ? near : numeric).name
  return random.pick([
    `${name()} + ${name()}`,
    `${name()} * 2`,
    `rate(${name()})`,
    `delta(${name()})`,
    `instant(${name()})`,
    `sum(${name()})`,
    `avg(${name()})`,
    `max(${name()})`,
    `count(${name()})`,
    `${name()} / ${name()}`,
    `${name()} > 10 ? ${name()} : 0`,
    `${name()} - ${name()} + 1`,
    `min(${name()}) + max(${name()})`,
    `matchinst(.*0.*, ${name()})`,
    `rescale(${name()}, "KB/sec")`,
    `scalar(${name()})`,
    `abs(${name()}) & 7`,
    `(${name()}`,
    'defined(no.such) ? 1 : 2',
  ])
}

/** Draws a file with derived metrics. */
export function derivedFile(drawing: Drawing): string {
  const lines = Array.from(
    { length: drawing.random.int(1, 3) },
    (_, i) => `gen.m${i} = ${expression(drawing)}\n`,
  )
  return `<<${lines.join('')}`
}

/** Draws one of these. */
export function oneOf(...texts: readonly string[]): (drawing: Drawing) => string {
  return ({ random }) => random.pick(texts)
}

/** Draws a whole number of a range. */
export function numberFrom(low: number, high: number): (drawing: Drawing) => string {
  return (drawing) => wholeNumber(drawing, low, high)
}

export const countUnit: (drawing: Drawing) => string = oneOf(...COUNT_UNITS)
export const spaceUnit: (drawing: Drawing) => string = oneOf(...SPACE_UNITS)
export const timeUnit: (drawing: Drawing) => string = oneOf(...TIME_UNITS)
export const stampFormat: (drawing: Drawing) => string = oneOf(...STAMP_FORMATS)
