/** Validates views from outside: links, files, browser storage. */
import { isChartKind } from '../chart/kinds/registry.ts'
import { type SharedView, VIEW_FILE_TYPE } from './share.ts'
import { type Chart, derivedName, newId, type PlainUnit, type Plot, type View } from './view.ts'

/** A validated view. */
export interface ValidatedView {
  readonly shared: SharedView
  /** Number of charts that were left out because they are invalid or of a later version. */
  readonly leftOut: number
}

/** Longer links are rejected, as are links that decompress to more than `MOST_BYTES`. */
const LONGEST = 500_000
const MOST_BYTES = 4_000_000
/** Seconds between samples. */
const SHORTEST = 0.1

/** Decodes a URL fragment; undefined unless it begins with `v=`. Throws an Error with a message for the user if it is damaged. */
export async function fromFragment(fragment: string): Promise<ValidatedView | undefined> {
  const code = /^#?v=(.*)$/s.exec(fragment)?.[1]
  if (code === undefined) return undefined
  if (code.length > LONGEST) throw new Error('The link is too long for this page')
  let received: ValidatedView | undefined
  try {
    const text = atob(code.replaceAll('-', '+').replaceAll('_', '/'))
    received = readShared(JSON.parse(await unpacked(Uint8Array.from(text, (letter) => letter.charCodeAt(0)))))
  } catch (error) {
    throw new Error('The link is damaged; check that it was copied completely', { cause: error })
  }
  if (received === undefined) throw new Error('The link contains no view')
  return received
}

/** Decompresses the text of a link. Links made by early versions are not compressed. */
async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes[0] === '{'.charCodeAt(0)) return new TextDecoder().decode(bytes)
  const reader = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'))
    .pipeThrough(new TextDecoderStream())
    .getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += value
    if (text.length > MOST_BYTES) {
      await reader.cancel()
      throw new Error('The decompressed view is too large')
    }
  }
}

/** Reads a file written by `toViewFile`; undefined for other formats. Throws an Error with a message for the user if it is damaged. */
export function fromViewFile(text: string): ValidatedView | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch (error) {
    throw new Error(`The view file is damaged: ${(error as Error).message}`, { cause: error })
  }
  const received = record(read)['type'] === VIEW_FILE_TYPE ? readShared(read) : undefined
  if (received === undefined) throw new Error('The file contains no view')
  return received
}

/** Extracts the valid parts of an untrusted value; undefined without a view. */
export function readShared(from: unknown): ValidatedView | undefined {
  const { view, source, compared, layout, width, end, zone, every } = record(from)
  const read = readView(view)
  if (read === undefined) return undefined
  const shared: SharedView = {
    view: read,
    ...(typeof source === 'string' ? { source } : {}),
    ...(Array.isArray(compared)
      ? { compared: compared.slice(0, 20).filter((key): key is string => typeof key === 'string') }
      : {}),
    ...(layout === 'beside' || layout === 'over' ? { layout } : {}),
    ...(isNumber(width) && width > 0 ? { width } : {}),
    ...(isNumber(end) && end >= 0 ? { end } : {}),
    ...(typeof zone === 'string' ? { zone } : {}),
    ...(isNumber(every) && every >= SHORTEST ? { every } : {}),
  }
  return { shared, leftOut: (record(view)['charts'] as unknown[]).length - read.charts.length }
}

/** Validates an untrusted view; invalid charts are left out. */
export function readView(from: unknown): View | undefined {
  const { name, charts } = record(from)
  if (typeof name !== 'string' || !Array.isArray(charts)) return undefined
  return {
    name: name.slice(0, 200),
    charts: charts.slice(0, 200).flatMap((chart) => readChart(chart) ?? []),
  }
}

function readChart(from: unknown): Chart | undefined {
  const { title, style, scale, legend, plots, every, wide, unit, tab, hidden, hint } = record(from)
  if (typeof style !== 'string' || !isChartKind(style) || !Array.isArray(plots)) return undefined
  const [low, high]: unknown[] = Array.isArray(scale) ? scale : []
  return {
    id: newId(),
    title: typeof title === 'string' ? title.slice(0, 500) : '',
    style,
    legend: legend !== false,
    plots: plots.slice(0, 500).flatMap((plot) => readPlot(plot) ?? []),
    ...(isNumber(low) && isNumber(high) ? { scale: [low, high] as const } : {}),
    ...(isNumber(every) && every >= SHORTEST ? { every } : {}),
    ...(wide === true ? { wide } : {}),
    ...(isUnit(unit) ? { unit } : {}),
    ...(typeof hint === 'string' ? { hint: hint.slice(0, 500) } : {}),
    ...(typeof tab === 'string' ? { tab: tab.slice(0, 500) } : {}),
    ...(Array.isArray(hidden)
      ? { hidden: hidden.slice(0, 1000).filter((key): key is string => typeof key === 'string') }
      : {}),
  }
}

function readPlot(from: unknown): Plot | undefined {
  const { metric, expr, source, instances, legend, color, optional, unit } = record(from)
  if (typeof metric !== 'string') return undefined
  const { mode, text } = record(instances)
  const isMode = mode === 'instance' || mode === 'matching' || mode === 'not-matching'
  return {
    metric: typeof expr === 'string' ? derivedName(expr) : metric,
    ...(typeof expr === 'string' ? { expr } : {}),
    ...(typeof source === 'string' ? { source } : {}),
    ...(isMode && typeof text === 'string' ? { instances: { mode, text } } : {}),
    ...(typeof legend === 'string' ? { legend } : {}),
    ...(typeof color === 'string' && /^[\w#(),.%\s-]{1,50}$/.test(color) ? { color } : {}),
    ...(optional === true ? { optional } : {}),
    ...(isUnit(unit) ? { unit } : {}),
  }
}

function record(from: unknown): Record<string, unknown> {
  return typeof from === 'object' && from !== null ? (from as Record<string, unknown>) : {}
}

function isUnit(value: unknown): value is PlainUnit {
  return value === 'percent' || value === 'share'
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}
