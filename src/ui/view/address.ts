/** The address of the page: what it shows, readable where it is simple. docs/how-to/charts.md */
import type { Frame } from '../time/control.ts'
import { pageKeyOf, viewOfPage } from './built-in.ts'
import { fromFragment } from './received.ts'
import { type SharedView, toFragment } from './share.ts'
import { type Layout, urlKey, urlOf, type View } from './view.ts'

/** The content of an address; an address typed by hand may leave out the view. */
export interface PageAddress extends Omit<SharedView, 'view'> {
  readonly view?: View
  /** Number of charts that were left out because they are invalid or of a later version. */
  readonly leftOut: number
}

const PARAMETERS = new Set([
  'page',
  'v',
  'source',
  'archive',
  'compare',
  'layout',
  'from',
  'to',
  'last',
  'at',
  'span',
  'zone',
  'every',
])
const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
]
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/
const MOST_COMPARED = 20
/** Longer views are left out of the address; `fromFragment` rejects them. */
const LONGEST = 400_000

/** Compressed views; the same view is written each time that the window moves. */
const codes = new WeakMap<View, Promise<string>>()

/** Returns the fragment that shows this again, without `#`: `page=overview&source=host:local:&last=5min`. */
export async function toAddress(shared: SharedView): Promise<string> {
  const { view, source, compared = [], layout, width, end, since, at, span, zone, every } = shared
  const page = pageKeyOf(view)
  const parts: [name: string, value: string][] = []
  if (page !== undefined) parts.push(['page', page])
  const url = source === undefined ? undefined : urlOf(source)
  if (url !== undefined) parts.push(['archive', url])
  else if (source !== undefined) parts.push(['source', source])
  for (const key of compared) parts.push(['compare', key])
  if (compared.length > 0 && layout === 'over') parts.push(['layout', layout])
  if (since !== undefined) parts.push(['from', isoText(since)], ['to', 'now'])
  else if (width !== undefined && end === undefined) parts.push(['last', spanText(width)])
  if (width !== undefined && end !== undefined)
    parts.push(['from', isoText(end - width)], ['to', isoText(end)])
  if (at !== undefined) parts.push(['at', isoText(at)])
  if (span !== undefined) parts.push(['span', `${isoText(span.from)}/${isoText(span.to)}`])
  if (zone !== undefined) parts.push(['zone', zone])
  if (every !== undefined && every !== 1) parts.push(['every', String(every)])
  const readable = parts.map(([name, value]) => `${name}=${encoded(value)}`)
  if (page !== undefined) return readable.join('&')
  const code = codes.get(view) ?? toFragment({ view })
  codes.set(view, code)
  const packed = await code
  return [...readable, ...(packed.length > LONGEST ? [] : [packed])].join('&')
}

/**
 * Reads a fragment, also the compact form of earlier versions: `v=...` alone. Undefined for fragments without parameters of charts.
 * Throws an Error with a message for the user.
 */
export async function fromAddress(fragment: string): Promise<PageAddress | undefined> {
  const values = new Map<string, string[]>()
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const [, name = '', value = ''] = /^([a-z]+)=(.*)$/s.exec(part) ?? []
    if (PARAMETERS.has(name)) values.set(name, [...(values.get(name) ?? []), value])
  }
  if (values.size === 0) return undefined
  const one = (name: string): string | undefined => decoded(values.get(name)?.[0])
  const code = values.get('v')?.[0]
  const packed = code === undefined ? undefined : await fromFragment(`v=${code}`)
  const page = one('page')
  const named = page === undefined ? undefined : viewOfPage(page)
  if (page !== undefined && named === undefined) throw new Error(`This page has no view named ${page}`)
  const view = packed?.shared.view ?? named
  const [archive, zone] = [one('archive'), one('zone')]
  const source = archive === undefined ? one('source') : urlKey(archive)
  const compared = values
    .get('compare')
    ?.slice(0, MOST_COMPARED)
    .flatMap((key) => decoded(key) ?? [])
  const layout = one('layout')
  const every = Number(one('every'))
  const at = one('at')
  const span = one('span')?.split('/')
  return {
    ...packed?.shared,
    ...(view === undefined ? {} : { view }),
    ...(source === undefined ? {} : { source }),
    ...(compared === undefined ? {} : { compared }),
    ...(layout === 'over' || layout === 'beside' ? { layout: layout satisfies Layout } : {}),
    ...windowOf(one('from'), one('to'), one('last')),
    ...(at === undefined ? {} : { at: momentOf(at) }),
    ...(span === undefined ? {} : { span: spanOf(span[0], span[1]) }),
    ...(zone === undefined ? {} : { zone }),
    ...(every >= 0.1 && Number.isFinite(every) ? { every } : {}),
    leftOut: packed?.leftOut ?? 0,
  }
}

function windowOf(
  from: string | undefined,
  to: string | undefined,
  last: string | undefined,
): Pick<SharedView, 'width' | 'end' | 'since'> {
  if (last !== undefined) return { width: secondsOf(last) }
  if (from === undefined && to === undefined) return {}
  if (to === 'now') return { since: momentOf(from) }
  const { from: start, to: end } = spanOf(from, to)
  return { width: end - start, end }
}

function spanOf(from: string | undefined, to: string | undefined): Frame {
  const span = { from: momentOf(from), to: momentOf(to) }
  if (span.to > span.from) return span
  throw new Error(`In the address, to=${to} must be after from=${from}`)
}

function momentOf(text = ''): number {
  const millis = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(millis)) return millis / 1000
  throw new Error(
    'In the address, from and to must both be times such as 2026-11-28T03:10:00Z, like at and span',
  )
}

function secondsOf(text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(s|min|h|d)?$/.exec(text) ?? []
  const seconds = Number(count) * (UNITS.find(([, name]) => name === unit)?.[0] ?? 1)
  if (seconds > 0) return seconds
  throw new Error('In the address, last must be a duration such as 30s, 5min, 1h or 7d')
}

function spanText(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds % size === 0) ?? [1, 's']
  return `${seconds / size}${unit}`
}

/** Formats a time, to milliseconds where it has any. */
function isoText(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().replace('.000Z', 'Z')
}

/** Encodes a value, but keeps characters that are allowed in fragments and easy to read. */
function encoded(value: string): string {
  return encodeURIComponent(value).replace(/%(3A|2F|2C|40)/g, decodeURIComponent)
}

function decoded(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  try {
    return decodeURIComponent(value)
  } catch {
    throw new Error('The link is damaged; check that it was copied completely')
  }
}
