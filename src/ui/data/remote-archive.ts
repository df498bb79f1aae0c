/** Opens an archive on a static web server by its address. Runs in the worker. docs/how-to/charts.md */
import { parseFileName } from '../../archive/file-names.ts'
import { decodeLabel, labelSize } from '../../archive/label.ts'
import { SEARCH_BYTES } from '../../archive/member-data.ts'
import { START_BYTES } from '../../archive/once-records.ts'
import { decodeIndex, type TemporalIndex } from '../../archive/temporal-index.ts'
import { decompressedAll, subjectOf } from './decompress.ts'
import { LocalArchive } from './local-archive.ts'
import { type PartReader, type RemoteFile, remoteFiles } from './remote-files.ts'

/** The part of a worker's network in use. */
export interface Network {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Returns a range of a file, blocking. */
  readonly readRange: (url: string, offset: number, length: number) => Uint8Array
}

/** An opened archive. */
export interface RemoteArchive {
  readonly archive: LocalArchive
  /** Name without suffixes. */
  readonly base: string
  /** Bytes of all its files. */
  readonly bytes: number
  /** Width in seconds of the window with which the page opens it: its end, as long as that is cheap to read. */
  readonly firstWidth: number
}

/** Largest metadata and index, which are read completely. */
const MOST_BYTES = 256 * 1024 * 1024
const MOST_VOLUMES = 1000
/** Most bytes of all compressed files together, and of their contents. */
const MOST_COMPRESSED = 64 * 1024 * 1024
const MOST_DECOMPRESSED = 512 * 1024 * 1024
/** Most bytes of records in the first window, and the widths of which it has the largest that fits, in seconds. */
const FIRST_BYTES = 2_700_000
const WIDTHS = [60, 300, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400]
/** Requests under way together; the browser orders those beyond its connections. */
const TOGETHER = 48
const COMPRESSED = ['.xz', '.zst', '.gz']

/**
 * Reads metadata and index of an archive, and from then on only the needed parts of its volumes; compressed volumes are read completely.
 * `address` is that of the archive or of one of its files. Throws an Error with a message for the user.
 */
export async function openRemoteArchive(address: string, network: Network): Promise<RemoteArchive> {
  const { folder, name } = placeOf(address)
  const server = new FileServer(folder, network)
  const base = await baseOf(name, server)
  // One round trip, if nothing is compressed.
  const [plainMeta, index, first] = await Promise.all([
    server.whole(`${base}.meta`),
    server.whole(`${base}.index`),
    server.sizeOf(`${base}.0`),
  ])
  if (index === undefined)
    throw new Error(`There is no ${base}.index at ${folder}; without it, everything would have to be read`)
  const files = new Map<string, RemoteFile>([[`${base}.index`, index]])
  if (plainMeta !== undefined) files.set(`${base}.meta`, plainMeta)
  if (first !== undefined) files.set(`${base}.0`, first)
  const missing = plainMeta === undefined ? [`${base}.meta`] : []
  if (first === undefined) missing.push(`${base}.0`)
  const others = volumesOf(index, `${base}.index`).filter((volume) => volume !== 0)
  await together(others, async (volume) => {
    const name = `${base}.${volume}`
    const size = await server.sizeOf(name)
    if (size === undefined) missing.push(name)
    else files.set(name, size)
  })
  for (const [name, bytes] of await server.compressed(missing)) files.set(name, bytes)
  if (!files.has(`${base}.meta`)) throw new Error(`There is no ${base}.meta at ${folder}`)
  // Old volumes may have been removed, but not all.
  if (files.size === 2) throw new Error(`No volume of ${base} was found at ${folder}`)
  const parts = remoteFiles(files, server)
  const volumes = [...files]
    .filter(([name]) => /^\.\d+$/.test(name.slice(base.length)))
    .sort(([a], [b]) => volumeOf(a) - volumeOf(b))
  // The first label with the values that are recorded once, and what `Archive.end` reads.
  const [lowest, highest] = [volumes[0]!, volumes.at(-1)!]
  await parts.prefetch(
    [
      { path: lowest[0], offset: 0, length: START_BYTES },
      { path: highest[0], offset: 0, length: 1 },
      { path: highest[0], offset: Math.max(0, sizeOf(highest[1]) - SEARCH_BYTES), length: SEARCH_BYTES },
    ],
    Number.POSITIVE_INFINITY,
  )
  let bytes = 0
  for (const file of files.values()) bytes += sizeOf(file)
  const archive = new LocalArchive(base, parts, true)
  const sizes = new Map(volumes.map(([name, file]) => [volumeOf(name), sizeOf(file)]))
  const width = archive.span.end - cheapStart(indexIn(index, `${base}.index`), sizes, archive.span)
  return { archive, base, bytes, firstWidth: WIDTHS.findLast((each) => each <= width) ?? WIDTHS[0]! }
}

/** Returns the time from which on the records up to the end take at most `FIRST_BYTES`, according to the index. */
function cheapStart(
  index: TemporalIndex,
  sizes: ReadonlyMap<number, number>,
  { start, end }: LocalArchive['span'],
): number {
  let [bytes, at, volume, before] = [0, end, Number.NaN, 0]
  for (let i = index.length - 1; i >= 0; i--) {
    const size = sizes.get(index.volume[i]!)
    if (size === undefined) return at // a removed volume
    if (index.volume[i] !== volume) {
      bytes += before
      before = size
    }
    bytes += before - index.offset[i]!
    if (bytes > FIRST_BYTES) return at
    at = index.sec[i]!
    volume = index.volume[i]!
    before = index.offset[i]!
  }
  return start
}

const volumeOf = (name: string): number => Number(parseFileName(name)!.part)
const sizeOf = (file: RemoteFile): number => (typeof file === 'number' ? file : file.length)

/** Runs an action for all items, a bounded number of them together. */
async function together<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += TOGETHER)
    await Promise.all(items.slice(at, at + TOGETHER).map(act))
}

/** The files of one folder on a web server. */
class FileServer implements PartReader {
  readonly #folder: string
  readonly #network: Network

  constructor(folder: string, network: Network) {
    this.#folder = folder
    this.#network = network
  }

  urlOf(name: string): string {
    return `${this.#folder}${encodeURIComponent(name)}`
  }

  /** Returns the content of a file; undefined for a missing one. */
  async whole(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const response = await get(this.urlOf(name), {}, this.#network)
    if (response.status === 404) return undefined
    if (!response.ok) throw new Error(`${name}: the server answers ${response.status}`)
    if (Number(response.headers.get('Content-Length')) > MOST_BYTES)
      throw new Error(`${name} is too large for a page`)
    return new Uint8Array(await response.arrayBuffer())
  }

  /** Returns the size of a file in bytes; undefined for a missing one. */
  async sizeOf(name: string): Promise<number | undefined> {
    const { ok, status, headers } = await get(this.urlOf(name), { method: 'HEAD' }, this.#network)
    if (status === 404) return undefined
    if (!ok) throw new Error(`${name}: the server answers ${status}`)
    const size = Number(headers.get('Content-Length') ?? Number.NaN)
    if (Number.isSafeInteger(size) && headers.get('Content-Encoding') === null) return size
    throw new Error(
      `${name}: the server sends no size; compression by the server must be off for these files`,
    )
  }

  readNow(name: string, offset: number, length: number): Uint8Array {
    return this.#network.readRange(this.urlOf(name), offset, length)
  }

  async read(name: string, offset: number, length: number): Promise<Uint8Array> {
    const url = this.urlOf(name)
    // A browser's cache makes requests for the same file wait for each other.
    const init: RequestInit = { headers: { Range: rangeOf(offset, length) }, cache: 'no-store' }
    const response = await get(url, init, this.#network)
    if (response.status === 206)
      return checkedRange(url, length, { status: 206, bytes: new Uint8Array(await response.arrayBuffer()) })
    await response.body?.cancel()
    return checkedRange(url, length, { status: response.status, bytes: new Uint8Array(0) })
  }

  /** Returns the contents of those of these files that are there in a compressed form. */
  async compressed(names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const found: { readonly name: string; readonly size: number }[] = []
    const candidates = names.flatMap((name) => COMPRESSED.map((suffix) => name + suffix))
    await together(candidates, async (name) => {
      const size = await this.sizeOf(name)
      if (size !== undefined) found.push({ name, size })
    })
    const all = found.reduce((sum, { size }) => sum + size, 0)
    if (all > MOST_COMPRESSED)
      throw new Error(
        `${subjectOf(found.map(({ name }) => name))} compressed, so that the page has to read all of ${Math.ceil(all / 2 ** 20)} MiB, which is too much. Decompress on the server, or drop the files of a shorter time here`,
      )
    const files: (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[] = []
    await together(found, async ({ name }) => {
      const bytes = await this.whole(name)
      if (bytes !== undefined) files.push([name, bytes])
    })
    return decompressedAll(files, MOST_DECOMPRESSED)
  }
}

/** Returns the name of the archive to which a name belongs. */
async function baseOf(name: string, server: FileServer): Promise<string> {
  const file = parseFileName(name)
  if (file === undefined) return name
  // 20261128.22.47 is an archive of 22:47, or volume 47 of an older one.
  const isTime = /^\d+$/.test(file.part) && (await server.sizeOf(`${name}.index`)) !== undefined
  return isTime ? name : file.base
}

/** Splits an address into its folder and the name of the archive or of one of its files. */
function placeOf(address: string): { readonly folder: string; readonly name: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(
      `${address} is not an address of an archive; enter for example https://host/path/20261128`,
    )
  if (url.username !== '' || url.password !== '') throw new Error('An address with a password is not opened')
  const [, path, last] = /^(.*\/)([^/]*)$/.exec(url.pathname)!
  const name = decodeURIComponent(last!)
  if (name === '') throw new Error(`${address} names a folder; add the name of the archive`)
  return { folder: url.origin + path!, name }
}

async function get(url: string, init: RequestInit, { fetch }: Network): Promise<Response> {
  try {
    return await fetch(url, { ...init, credentials: 'omit' })
  } catch (cause) {
    throw new Error(
      `${url} cannot be read: the server is unreachable, or does not allow this page to read it (CORS: Access-Control-Allow-Origin)`,
      { cause },
    )
  }
}

/** Returns the numbers of the volumes in a temporal index. */
function volumesOf(index: Uint8Array, name: string): number[] {
  const { volume } = indexIn(index, name)
  const volumes = [...new Set(volume)].filter((number) => number >= 0).sort((a, b) => a - b)
  if (volumes.length > MOST_VOLUMES) throw new Error(`${name} names more than ${MOST_VOLUMES} volumes`)
  return volumes
}

function indexIn(file: Uint8Array, name: string): TemporalIndex {
  const { version } = decodeLabel(file, name, false)
  return decodeIndex(file.subarray(labelSize(version)), version)
}

const rangeOf = (offset: number, length: number): string => `bytes=${offset}-${offset + length - 1}`

/** Returns the bytes of a range request. Throws an Error with a message for the user. */
export function checkedRange(
  url: string,
  length: number,
  { status, bytes }: { readonly status: number; readonly bytes: Uint8Array },
): Uint8Array {
  if (status === 200)
    throw rangeError(url, 'the server sends whole files only; it must support requests for ranges')
  if (status !== 206) throw rangeError(url, `the server answers ${status}`)
  if (bytes.length !== length) throw rangeError(url, 'the server sent another range; has the file changed?')
  return bytes
}

function rangeError(url: string, why: string): Error {
  return Object.assign(new Error(`${url}: ${why}`), { code: 'EIO' })
}

/** The network of the worker. */
export const workerNetwork: Network = {
  fetch: (url, init) => fetch(url, init),
  readRange(url, offset, length) {
    const request = new XMLHttpRequest()
    request.open('GET', url, false)
    request.responseType = 'arraybuffer'
    request.setRequestHeader('Range', rangeOf(offset, length))
    try {
      request.send()
    } catch (cause) {
      throw Object.assign(
        rangeError(url, 'the server is unreachable, or does not allow requests for ranges (CORS)'),
        { cause },
      )
    }
    return checkedRange(url, length, {
      status: request.status,
      bytes: new Uint8Array(request.response as ArrayBuffer),
    })
  },
}
