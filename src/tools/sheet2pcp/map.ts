/**
 * Parser of maps, which assign columns to metrics. sheet2pcp(1)
 *
 *     <sheet heading="1" hostname="h" timezone="+0100" datefmt="DMY">
 *       <metric pmid= indom= units= type= sem=>name</metric>         a metric
 *       <datetime/> <data>name[instance]</data> <skip/>              the columns, in order
 *     </sheet>
 */
import { IMPORT_DOMAIN } from '../../archive/import/archive-import.ts'
import { PcpError } from '../../model/errors.ts'
import { indom, PM_ID_NULL, PM_INDOM_NULL, pmid } from '../../model/ids.ts'
import * as types from '../../model/types.ts'
import * as units from '../../model/units.ts'
import { type DateFormat, parseOffset } from './times.ts'
import { parseXml, type XmlEvent } from './xml.ts'

/** A metric of the map. */
export interface MapMetric {
  readonly name: string
  readonly pmid: number
  readonly indom: number
  readonly units: number
  readonly type: number
  readonly sem: number
}

/** Content of a column. */
export type Column =
  | { readonly kind: 'datetime' | 'skip' }
  | { readonly kind: 'data'; readonly metric: MapMetric; readonly instance: string | undefined }

export interface SheetMap {
  readonly heading: number
  readonly hostname: string | undefined
  /** Seconds east of UTC. */
  readonly offset: number | undefined
  readonly datefmt: DateFormat
  readonly metrics: readonly MapMetric[]
  readonly columns: readonly Column[]
  /** Whether to print the map. */
  readonly isShown: boolean
  /** Errors in the map. */
  readonly problems: readonly string[]
}

/** Parses a map and collects all errors. */
export function parseMap(text: string): SheetMap {
  const reader = new MapReader()
  try {
    parseXml(text, (event) => reader.event(event))
  } catch (error) {
    reader.problems.push(PcpError.from(error).message)
  }
  return reader.finish()
}

const NUMBER = /^-?\d+$/
const METRIC_ATTRIBUTES: ReadonlySet<string> = new Set(['pmid', 'indom', 'units', 'type', 'sem'])
const SHEET_ATTRIBUTES: ReadonlySet<string> = new Set(['heading', 'hostname', 'timezone', 'datefmt'])
const COUNT_ONE = 0

class MapReader {
  readonly problems: string[] = []
  readonly #metrics = new Map<string, MapMetric>()
  readonly #columns: Column[] = []
  readonly #sheet = { heading: 0, datefmt: 'DMY' as DateFormat }
  #hostname: string | undefined
  #offset: number | undefined
  #isShown = false
  /** The element of the current text, and its attributes. */
  #element: string | undefined
  #attributes: ReadonlyMap<string, string> = new Map()
  #text = ''

  event(event: XmlEvent): void {
    if (event.type === 'comment') this.#isShown ||= event.text.trim() === 'pmiDump'
    else if (event.type === 'open') this.#open(event.name, event.attributes)
    else if (event.type === 'text') {
      if (this.#element !== undefined) this.#text += event.text
      else if (event.text.trim() !== '') this.#problem(`unexpected text "${event.text.trim()}"`)
    } else if (event.type === 'close') this.#close(event.name)
  }

  finish(): SheetMap {
    if (!this.#columns.some(({ kind }) => kind === 'datetime')) this.#problem('no <datetime> element')
    return {
      ...this.#sheet,
      hostname: this.#hostname,
      offset: this.#offset,
      metrics: [...this.#metrics.values()],
      columns: this.#columns,
      isShown: this.#isShown,
      problems: this.problems,
    }
  }

  #problem(text: string): void {
    this.problems.push(text)
  }

  #open(name: string, attributes: ReadonlyMap<string, string>): void {
    switch (name) {
      case 'sheet':
        this.#readSheet(attributes)
        return
      case 'metric':
      case 'data':
      case 'datetime':
      case 'skip':
        this.#element = name
        this.#attributes = attributes
        this.#text = ''
        if (name !== 'metric')
          for (const attribute of attributes.keys()) this.#problem(`<${name}> has no attribute ${attribute}`)
        return
      default:
        this.#problem(`unexpected tag <${name}>`)
    }
  }

  #close(name: string): void {
    if (name !== this.#element) return
    const text = this.#text.trim()
    this.#element = undefined
    if (name === 'metric') this.#addMetric(text)
    else if (name === 'data') this.#addData(text)
    else {
      if (text !== '') this.#problem(`unexpected text "${text}" in <${name}>`)
      this.#columns.push({ kind: name === 'skip' ? 'skip' : 'datetime' })
    }
  }

  #readSheet(attributes: ReadonlyMap<string, string>): void {
    for (const [name, value] of attributes) {
      if (!SHEET_ATTRIBUTES.has(name)) this.#problem(`<sheet> has no attribute ${name}`)
      else if (name === 'hostname') this.#hostname = value
      else if (name === 'heading') {
        if (/^\d+$/.test(value)) this.#sheet.heading = Number(value)
        else this.#problem(`heading "${value}" is not a number`)
      } else if (name === 'timezone') {
        this.#offset = parseOffset(value)
        if (this.#offset === undefined) this.#problem(`timezone "${value}" is not +HHMM or -HHMM`)
      } else if (value === 'DMY' || value === 'MDY' || value === 'YMD') this.#sheet.datefmt = value
      else this.#problem(`datefmt "${value}" is not DMY, MDY or YMD`)
    }
  }

  #addMetric(name: string): void {
    for (const attribute of this.#attributes.keys())
      if (!METRIC_ATTRIBUTES.has(attribute)) this.#problem(`<metric> has no attribute ${attribute}`)
    const get = (attribute: string): string | undefined => this.#attributes.get(attribute)?.trim()
    if (name === '') this.#problem('a <metric> without name')
    else if (this.#metrics.has(name)) this.#problem(`duplicate metric ${name}`)
    else
      this.#metrics.set(name, {
        name,
        pmid: this.#identifier(get('pmid'), 3, 'pmid', PM_ID_NULL),
        indom: this.#identifier(get('indom'), 2, 'indom', PM_INDOM_NULL),
        units: this.#units(get('units')),
        type: this.#constant(get('type'), 'PM_TYPE_', types.PM_TYPE_FLOAT),
        sem: this.#constant(get('sem'), 'PM_SEM_', types.PM_SEM_INSTANT),
      })
  }

  /** Parses `D.C.I` or `D.S`; the domain may be PMI_DOMAIN. */
  #identifier(text: string | undefined, parts: 2 | 3, what: string, nothing: number): number {
    if (text === undefined || text === (parts === 3 ? 'PM_ID_NULL' : 'PM_INDOM_NULL')) return nothing
    const fields = text.replace(/^PMI_DOMAIN(?=\.)/, String(IMPORT_DOMAIN)).split('.')
    if (fields.length === parts && fields.every((field) => /^\d+$/.test(field))) {
      const [a, b, c] = fields.map(Number)
      return parts === 3 ? pmid(a!, b!, c!) : indom(a!, b!)
    }
    this.#problem(`bad ${what} "${text}"`)
    return nothing
  }

  #units(text: string | undefined): number {
    if (text === undefined) return 0
    const fields = text.split(',').map((field) => unitConstant(field.trim()))
    if (fields.length !== 6 || fields.some((field) => field === undefined)) {
      this.#problem(`bad units "${text}": expected six numbers or constants`)
      return 0
    }
    const [dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount] = fields as number[]
    return units.packUnits({
      dimSpace: dimSpace!,
      dimTime: dimTime!,
      dimCount: dimCount!,
      scaleSpace: scaleSpace!,
      scaleTime: scaleTime!,
      scaleCount: scaleCount!,
    })
  }

  #constant(text: string | undefined, prefix: string, value: number): number {
    if (text === undefined) return value
    const found = text.startsWith(prefix) ? (types as Readonly<Record<string, unknown>>)[text] : undefined
    if (typeof found === 'number') return found
    this.#problem(`bad value "${text}": expected ${prefix}...`)
    return value
  }

  #addData(text: string): void {
    const match = /^([^[\]]+?)\s*(?:\[(.*)\])?$/.exec(text)
    const metric = match === null ? undefined : this.#metrics.get(match[1]!)
    if (match === null) this.#problem(`bad <data> "${text}": expected metric or metric[instance]`)
    else if (metric === undefined) this.#problem(`undefined metric ${match[1]} in <data>`)
    else if ((match[2] === undefined) !== (metric.indom === PM_INDOM_NULL))
      this.#problem(
        `${text}: ${match[2] === undefined ? 'an instance is required' : 'the metric has no instances'}`,
      )
    this.#columns.push(
      metric === undefined ? { kind: 'skip' } : { kind: 'data', metric, instance: match![2] },
    )
  }
}

function unitConstant(text: string): number | undefined {
  if (NUMBER.test(text)) return Number(text)
  if (text === 'PM_COUNT_ONE') return COUNT_ONE
  if (!/^PM_(SPACE|TIME)_/.test(text)) return undefined
  const value = (units as Readonly<Record<string, unknown>>)[text]
  return typeof value === 'number' ? value : undefined
}
