/** Serializes views for links, files and browser storage. */
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
  /** Displayed time zone; absent for the user's own. */
  readonly zone?: string
  /** Seconds between live samples; absent for 1. */
  readonly every?: number
}

/** Returns the URL fragment: compressed, in characters that no program changes. */
export async function toFragment(shared: SharedView): Promise<string> {
  // The reader assigns new ids.
  const json = JSON.stringify(shared, (key, value: unknown) => (key === 'id' ? undefined : value))
  const packed = new Blob([json]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return `v=${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}

/** `type` of view files. */
export const VIEW_FILE_TYPE = 'pcp-ts view'

/** Returns the content of a view file, which keeps all of the view. */
export function toViewFile(view: View): string {
  const kept = { type: VIEW_FILE_TYPE, view }
  return `${JSON.stringify(kept, (key, value: unknown) => (key === 'id' ? undefined : value), 2)}\n`
}
