/** Metric specifications: `metric,label,instances,unit,type,width,precision,limit`. pmrep.conf(5) */
import { PcpError } from '../../../model/errors.ts'
import { splitList } from './settings.ts'

/** Specification of a metric or of all metrics below a name; unspecified attributes are undefined. */
export interface ReportMetricSpec {
  readonly name: string
  readonly label: string | undefined
  readonly instances: readonly string[]
  readonly unit: string | undefined
  /** `raw` for counters instead of rates; any other text for rates, also with -R. */
  readonly type: string | undefined
  /** Numbers as written; `numbersOf` parses them. */
  readonly width: string | undefined
  readonly precision: string | undefined
  readonly limit: string | undefined
}

/** Attributes of metrics in configuration files. */
const ATTRIBUTES = ['label', 'instances', 'unit', 'type', 'width', 'precision', 'limit', 'formula'] as const

/** Returns the attribute after the dot of a key such as `used.width`. */
export function attributeOf(key: string): { readonly handle: string; readonly name: string } | undefined {
  const dot = key.indexOf('.')
  if (dot < 0) return undefined
  const name = key.slice(dot + 1)
  return (ATTRIBUTES as readonly string[]).includes(name) ? { handle: key.slice(0, dot), name } : undefined
}

/** Texts of a specification by attribute. */
export type SpecTexts = Partial<Record<(typeof ATTRIBUTES)[number], string>>

/** Parses `metric,label,instances,...`. */
export function parseSpec(text: string): ReportMetricSpec {
  const { name, texts } = splitSpec(text)
  return specOf(name, texts)
}

/** Splits `metric,label,instances,...` into the name and texts by attribute. */
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

/** Returns the specification with these attributes. */
export function specOf(name: string, texts: SpecTexts): ReportMetricSpec {
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

/** Parsed numbers of a specification. */
interface SpecNumbers {
  readonly width: number | undefined
  readonly precision: number | undefined
  readonly limit: number | undefined
}

/** Parses the numbers of a specification of metric `name`. Throws PM_ERR_GENERIC with the line to print for other text. */
export function numbersOf({ width, precision, limit }: ReportMetricSpec, name: string): SpecNumbers {
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

/** Splits fields at commas. The text from the first quote to the last one of its kind is one field, including the quotes. */
function splitFields(text: string): string[] {
  const first = /["']/.exec(text)
  const end = first === null ? -1 : text.lastIndexOf(first[0])
  if (first === null || end === first.index) return text.split(',')
  const before = text.slice(0, first.index).split(',')
  const after = text.slice(end + 1).split(',')
  before[before.length - 1] += text.slice(first.index, end + 1) + (after.shift() ?? '')
  return [...before, ...after]
}

/** Splits a list of instances; quotes around the whole list are removed. */
function instanceList(text: string): string[] {
  const quote = text[0]
  const isWhole = (quote === '"' || quote === "'") && text.indexOf(quote, 1) === text.length - 1
  return splitList(isWhole ? text.slice(1, -1) : text)
}
