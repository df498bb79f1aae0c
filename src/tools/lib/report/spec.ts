/** Metric specifications: `metric,label,instances,unit,type,width,precision,limit`. pmrep.conf(5) */
import { PcpError } from '../../../model/errors.ts'
import { splitList } from './settings.ts'

/** A metric, or all metrics below a name, as somebody wants it reported. Undefined where nothing is said. */
export interface MetricSpec {
  readonly name: string
  readonly label: string | undefined
  readonly instances: readonly string[]
  readonly unit: string | undefined
  /** Counters as they are (`raw`), or as usual whatever is preferred (anything else). */
  readonly type: string | undefined
  /** Numbers as they are written; `numbersOf` reads them. */
  readonly width: string | undefined
  readonly precision: string | undefined
  readonly limit: string | undefined
}

/** Attributes of metrics in configuration files. */
const ATTRIBUTES = ['label', 'instances', 'unit', 'type', 'width', 'precision', 'limit', 'formula'] as const

/** The attribute that a key names behind its dot: `used.width`. */
export function attributeOf(key: string): { readonly handle: string; readonly name: string } | undefined {
  const dot = key.indexOf('.')
  if (dot < 0) return undefined
  const name = key.slice(dot + 1)
  return (ATTRIBUTES as readonly string[]).includes(name) ? { handle: key.slice(0, dot), name } : undefined
}

/** Texts of a specification by attribute. */
export type SpecTexts = Partial<Record<(typeof ATTRIBUTES)[number], string>>

/** Takes `metric,label,instances,...` apart. */
export function parseSpec(text: string): MetricSpec {
  const { name, texts } = splitSpec(text)
  return specOf(name, texts)
}

/** The name and the texts of `metric,label,instances,...`. */
export function splitSpec(text: string): { readonly name: string; readonly texts: SpecTexts } {
  const fields = splitFields(text)
  const [name = '', label, instances, unit, type, width, precision, limit] = fields.map((field) =>
    field.trim(),
  )
  const texts = {
    ...given('label', label),
    ...given('instances', instances),
    ...given('unit', unit),
    ...given('type', type),
    ...given('width', width),
    ...given('precision', precision),
    ...given('limit', limit),
  }
  return { name, texts }
}

function given(key: keyof SpecTexts, value: string | undefined): SpecTexts {
  return value === undefined || value === '' ? {} : { [key]: value }
}

/** The specification that attributes make. */
export function specOf(name: string, texts: SpecTexts): MetricSpec {
  return {
    name,
    label: texts.label,
    instances: texts.instances === undefined ? [] : instanceList(texts.instances),
    unit: texts.unit,
    type: texts.type,
    width: texts.width,
    precision: texts.precision,
    limit: texts.limit,
  }
}

/** Numbers of a specification. */
interface SpecNumbers {
  readonly width: number | undefined
  readonly precision: number | undefined
  readonly limit: number | undefined
}

/** Reads the numbers of a specification, for the metric `name` that it is about. PM_ERR_GENERIC with the line to print for words. */
export function numbersOf({ width, precision, limit }: MetricSpec, name: string): SpecNumbers {
  return {
    width: natural(width, name),
    precision: natural(precision, name),
    limit: limit === undefined ? undefined : integer(limit, name),
  }
}

function natural(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^\+?\d+$/.test(text)) throw new PcpError('PM_ERR_GENERIC', `Non-negative integer expected: ${name}`)
  return Number(text)
}

function integer(text: string, name: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new PcpError('PM_ERR_GENERIC', `Integer expected: ${name}`)
  return Number(text)
}

/** Fields between commas. From the first quote to the last one like it everything is one field, quotes included. */
function splitFields(text: string): string[] {
  const first = /["']/.exec(text)
  const end = first === null ? -1 : text.lastIndexOf(first[0])
  if (first === null || end === first.index) return text.split(',')
  const before = text.slice(0, first.index).split(',')
  const after = text.slice(end + 1).split(',')
  before[before.length - 1] += text.slice(first.index, end + 1) + (after.shift() ?? '')
  return [...before, ...after]
}

/** A list of instances; quotes around the whole of it are not part of its items. */
function instanceList(text: string): string[] {
  const quote = text[0]
  const isWhole = (quote === '"' || quote === "'") && text.indexOf(quote, 1) === text.length - 1
  return splitList(isWhole ? text.slice(1, -1) : text)
}
