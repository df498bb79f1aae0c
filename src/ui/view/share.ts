/** Views as text: in the address of the page, in files, and where the browser keeps them. */
import type { Layout, View } from './view.ts'

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
  /** Zone that times are shown in; absent: the reader's own. */
  readonly zone?: string
  /** Seconds between live samples; absent: 1. */
  readonly every?: number
}

/** As the part of an address behind `#`: compressed, in letters that no program changes. */
export async function toFragment(shared: Shared): Promise<string> {
  // Ids are made anew by whoever reads it.
  const json = JSON.stringify(shared, (key, value: unknown) => (key === 'id' ? undefined : value))
  const packed = new Blob([json]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return `v=${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}

/** What view files begin with. */
export const VIEW_FILE_TYPE = 'pcp-ts view'

/** A view as a file of its own, with all that there is to it. */
export function toViewFile(view: View): string {
  const kept = { type: VIEW_FILE_TYPE, view }
  return `${JSON.stringify(kept, (key, value: unknown) => (key === 'id' ? undefined : value), 2)}\n`
}
