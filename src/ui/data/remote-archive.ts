/** Opens an archive on a static web server by its address. Runs in the worker. docs/how-to/charts.md */
import { parseFileName } from '../../archive/file-names.ts'
import { decodeLabel, labelSize } from '../../archive/label.ts'
import { decodeIndex } from '../../archive/temporal-index.ts'
import { LocalArchive } from './local-archive.ts'
import { type ReadPart, type RemoteFile, remoteFiles } from './remote-files.ts'

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
}

/** Largest metadata and index, which are read completely. */
const MOST_BYTES = 256 * 1024 * 1024
const MOST_VOLUMES = 1000
/** Requests for sizes of volumes under way together. */
const TOGETHER = 6
const COMPRESSED = ['.xz', '.zst', '.gz']

/**
 * Reads metadata and index of an archive, and from then on only the needed parts of its volumes. `address` is that of the archive or of one of
 * its files. Throws an Error with a message for the user.
 */
export async function openRemoteArchive(address: string, network: Network): Promise<RemoteArchive> {
  const { folder, base } = placeOf(address)
  const urlOf = (name: string): string => `${folder}${encodeURIComponent(name)}`
  const whole = async (name: string): Promise<Uint8Array | undefined> => {
    const response = await get(urlOf(name), {}, network)
    if (response.status === 404) return undefined
    if (!response.ok) throw new Error(`${name}: the server answers ${response.status}`)
    if (Number(response.headers.get('Content-Length')) > MOST_BYTES)
      throw new Error(`${name} is too large for a page`)
    return new Uint8Array(await response.arrayBuffer())
  }
  const sizeOf = async (name: string): Promise<number | undefined> => {
    const { ok, status, headers } = await get(urlOf(name), { method: 'HEAD' }, network)
    if (status === 404) return undefined
    if (!ok) throw new Error(`${name}: the server answers ${status}`)
    const size = Number(headers.get('Content-Length') ?? Number.NaN)
    if (Number.isSafeInteger(size) && headers.get('Content-Encoding') === null) return size
    throw new Error(
      `${name}: the server sends no size; compression by the server must be off for these files`,
    )
  }
  const [meta, index, first] = await Promise.all([
    whole(`${base}.meta`),
    whole(`${base}.index`),
    sizeOf(`${base}.0`),
  ])
  if (first === undefined) await refuseCompressed(base, sizeOf)
  if (meta === undefined) throw new Error(`There is no ${base}.meta at ${folder}`)
  if (index === undefined)
    throw new Error(`There is no ${base}.index at ${folder}; without it, everything would have to be read`)
  const files = new Map<string, RemoteFile>([
    [`${base}.meta`, meta],
    [`${base}.index`, index],
    ...(first === undefined ? [] : [[`${base}.0`, first] as const]),
  ])
  const others = volumesOf(index, `${base}.index`).filter((volume) => volume !== 0)
  for (let at = 0; at < others.length; at += TOGETHER)
    await Promise.all(
      others.slice(at, at + TOGETHER).map(async (volume) => {
        const name = `${base}.${volume}`
        const size = await sizeOf(name)
        if (size !== undefined) files.set(name, size) // old volumes may have been removed
      }),
    )
  if (files.size === 2) await refuseCompressed(base, sizeOf, others[0])
  if (files.size === 2) throw new Error(`There are no volumes of ${base} at ${folder}`)
  const read: ReadPart = (name, offset, length) => network.readRange(urlOf(name), offset, length)
  let bytes = 0
  for (const file of files.values()) bytes += typeof file === 'number' ? file : file.length
  return { archive: new LocalArchive(base, remoteFiles(files, read), true), base, bytes }
}

/** Splits an address into its folder and the name of the archive. */
function placeOf(address: string): { readonly folder: string; readonly base: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(
      `${address} is not an address of an archive; enter for example https://host/path/20261128`,
    )
  if (url.username !== '' || url.password !== '') throw new Error('An address with a password is not opened')
  const [, path, last] = /^(.*\/)([^/]*)$/.exec(url.pathname)!
  const name = decodeURIComponent(last!)
  const base = parseFileName(name)?.base ?? name
  if (base === '') throw new Error(`${address} names a folder; add the name of the archive`)
  return { folder: url.origin + path!, base }
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

async function refuseCompressed(
  base: string,
  sizeOf: (name: string) => Promise<number | undefined>,
  volume = 0,
): Promise<void> {
  for (const suffix of COMPRESSED) {
    const name = `${base}.${volume}${suffix}`
    if ((await sizeOf(name).catch(() => undefined)) !== undefined)
      throw new Error(
        `${name} is compressed, so it cannot be read in parts; decompress it on the server, or drop the files here`,
      )
  }
}

/** Returns the numbers of the volumes in a temporal index. */
function volumesOf(index: Uint8Array, name: string): number[] {
  const { version } = decodeLabel(index, name, false)
  const { volume } = decodeIndex(index.subarray(labelSize(version)), version)
  const volumes = [...new Set(volume)].filter((number) => number >= 0).sort((a, b) => a - b)
  if (volumes.length > MOST_VOLUMES) throw new Error(`${name} names more than ${MOST_VOLUMES} volumes`)
  return volumes
}

/** Returns the bytes of a blocking range request. Throws an Error with a message for the user. */
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
    request.setRequestHeader('Range', `bytes=${offset}-${offset + length - 1}`)
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
