/** Views as text: in the address of the page, and where the browser keeps them. */
import type { Layout } from './spread.ts'
import { type Chart, derivedName, newId, type PlainUnit, type Plot, STYLES, type View } from './view.ts'

/** A view and the moment it is looked at. */
export interface Shared {
  readonly view: View
  /** Key of the source shown. */
  readonly source?: string
  /** Keys of the sources shown with it, and how. */
  readonly compared?: readonly string[]
  readonly layout?: Layout
  /** Seconds shown. */
  readonly width?: number
  /** End of what is shown, in seconds since the epoch; absent: now. */
  readonly end?: number
}

/** As the part of an address behind `#`. */
export function toFragment(shared: Shared): string {
  const bytes = new TextEncoder().encode(JSON.stringify(shared))
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return `v=${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}

/** Nothing for a fragment that is none of ours or was damaged on the way. */
export function fromFragment(fragment: string): Shared | undefined {
  const code = /^#?v=([\w-]+)$/.exec(fragment)?.[1]
  if (code === undefined) return undefined
  try {
    const text = atob(code.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0))
    return readShared(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return undefined
  }
}

/** Takes what it understands of something that came from outside; nothing unless there is a view in it. */
export function readShared(from: unknown): Shared | undefined {
  const { view, source, compared, layout, width, end } = record(from)
  const read = readView(view)
  if (read === undefined) return undefined
  return {
    view: read,
    ...(typeof source === 'string' ? { source } : {}),
    ...(Array.isArray(compared)
      ? { compared: compared.slice(0, 20).filter((key): key is string => typeof key === 'string') }
      : {}),
    ...(layout === 'beside' || layout === 'over' ? { layout } : {}),
    ...(isNumber(width) && width > 0 ? { width } : {}),
    ...(isNumber(end) ? { end } : {}),
  }
}

/** A view that came from outside: charts that make no sense are left out. */
export function readView(from: unknown): View | undefined {
  const { name, charts } = record(from)
  if (typeof name !== 'string' || !Array.isArray(charts)) return undefined
  return {
    name: name.slice(0, 200),
    charts: charts.slice(0, 200).flatMap((chart) => readChart(chart) ?? []),
  }
}

function readChart(from: unknown): Chart | undefined {
  const { title, style, scale, legend, plots, every, wide, unit } = record(from)
  const known = STYLES.find(([name]) => name === style)
  if (known === undefined || !Array.isArray(plots)) return undefined
  const [low, high]: unknown[] = Array.isArray(scale) ? scale : []
  return {
    id: newId(),
    title: typeof title === 'string' ? title.slice(0, 500) : '',
    style: known[0],
    legend: legend !== false,
    plots: plots.slice(0, 500).flatMap((plot) => readPlot(plot) ?? []),
    ...(isNumber(low) && isNumber(high) ? { scale: [low, high] as const } : {}),
    ...(isNumber(every) && every >= 0.1 ? { every } : {}),
    ...(wide === true ? { wide } : {}),
    ...(isUnit(unit) ? { unit } : {}),
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
