/** Serializes views for links, files and browser storage. */
import type { Frame } from '../time/control.ts'
import type { Layout, View } from './view.ts'

/** A view with the sources and the time it shows. */
export interface SharedView {
  readonly view: View
  /** Key of the current source. */
  readonly source?: string
  /** Keys of the compared sources and their layout. */
  readonly compared?: readonly string[]
  readonly layout?: Layout
  /** Width of the window in seconds. */
  readonly width?: number
  /** End of the window, in seconds since the epoch; absent for the present. */
  readonly end?: number
  /** Start of a window up to the present that was chosen by its start, such as today. It determines the width. */
  readonly since?: number | undefined
  /** The pinned instant, in seconds since the epoch. */
  readonly at?: number | undefined
  /** The selected span. */
  readonly span?: Frame | undefined
  /** Displayed time zone; absent for the user's own. */
  readonly zone?: string
  /** Seconds between live samples; absent for 1. */
  readonly every?: number
}

/** Returns the URL fragment: compressed, in characters that no program changes. */
export async function toFragment(shared: SharedView): Promise<string> {
  const json = JSON.stringify(shared, stable)
  const packed = new Blob([json]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return `v=${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}

/** Replacer that leaves out ids, which the reader assigns, and sorts keys: the same state always has the same text. */
function stable(key: string, value: unknown): unknown {
  if (key === 'id') return undefined
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
}

/** `type` of view files. */
export const VIEW_FILE_TYPE = 'pcp-ts view'

/** Returns the content of a view file, which keeps all of the view. */
export function toViewFile(view: View): string {
  const kept = { type: VIEW_FILE_TYPE, view }
  return `${JSON.stringify(kept, stable, 2)}\n`
}
