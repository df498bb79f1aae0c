/** The files of an archive, and how names refer to them. docs/formats/archive.md §1 */
import type { ArchiveFiles } from '../base/byte-source.ts'
import { PcpError } from '../model/errors.ts'
import { attempt } from './volume.ts'

/** Suffixes of compressed files, in the order in which they are tried. */
export const COMPRESSION_SUFFIXES: readonly string[] = [
  '.xz',
  '.lzma',
  '.bz2',
  '.bz',
  '.gz',
  '.Z',
  '.z',
  '.zst',
]

/** A parsed file name. */
export interface ArchiveFileName {
  readonly base: string
  /** `meta`, `index`, or the digits of a volume. */
  readonly part: string
  /** '' for an uncompressed file. */
  readonly suffix: string
}

/** The files of one archive. */
export interface MemberFiles {
  /** Path without `.meta` and other suffixes. */
  readonly base: string
  readonly meta: string
  readonly index: string | undefined
  /** Paths of volumes by number, ascending. */
  readonly volumes: readonly { readonly number: number; readonly path: string }[]
}

/** Parses a file name, with directories as part of `base`; undefined if it does not belong to an archive. */
export function parseFileName(name: string): ArchiveFileName | undefined {
  const suffix = COMPRESSION_SUFFIXES.find((end) => name.endsWith(end) && name.lastIndexOf('.') > 0) ?? ''
  const plain = name.slice(0, name.length - suffix.length)
  const dot = plain.lastIndexOf('.')
  const part = plain.slice(dot + 1)
  if (dot === -1 || !/^(?:meta|index|\d+)$/.test(part)) return undefined
  return { base: plain.slice(0, dot), part, suffix }
}

/** Caches directory listings for a call that looks for many archives in few directories. */
export class Listings {
  readonly #files: ArchiveFiles
  readonly #lists = new Map<string, readonly string[]>()

  constructor(files: ArchiveFiles) {
    this.#files = files
  }

  /** Returns the names in a directory, '' for the current one. Throws the errno. */
  of(directory: string): readonly string[] {
    const known = this.#lists.get(directory)
    if (known !== undefined) return known
    const path = directory === '' ? '.' : directory
    const list = attempt(path, () => this.#files.list(path))
    this.#lists.set(directory, list)
    return list
  }

  /**
   * Returns the base names for one element of a list: of all archives in a directory, otherwise one. The name of an existing file,
   * compressed or not, means that file's archive; any other name is a base name.
   */
  bases(name: string): string[] {
    if (name === '') throw new PcpError('PM_ERR_LOGFILE', 'The name of the archive is empty')
    if (this.#files.isDirectory(name)) return this.#basesIn(name)
    const [directory, last] = splitPath(name)
    const list = this.of(directory)
    const exists = list.includes(last) || COMPRESSION_SUFFIXES.some((end) => list.includes(last + end))
    return [exists ? (parseFileName(name)?.base ?? name) : name]
  }

  #basesIn(directory: string): string[] {
    const bases = new Set<string>()
    const prefix = directory.endsWith('/') ? directory : `${directory}/`
    for (const name of this.of(directory)) {
      const parsed = parseFileName(name)
      if (parsed?.part === 'meta') bases.add(prefix + parsed.base)
    }
    return [...bases]
  }

  /** Returns the files of the archive with this base name. ENOENT without any files, PM_ERR_LOGFILE without metadata or volumes. */
  member(base: string): MemberFiles {
    const [directory, last] = splitPath(base)
    const found = new Map<string, string>()
    for (const name of this.of(directory)) {
      if (!name.startsWith(last)) continue
      const parsed = parseFileName(name)
      if (parsed?.base !== last) continue
      const other = found.get(parsed.part)
      if (other === undefined || rank(parsed.suffix) < rank(other)) found.set(parsed.part, parsed.suffix)
    }
    if (found.size === 0) throw new PcpError('ENOENT', `${base}: no such archive`)
    const path = (part: string): string => `${base}.${part}${found.get(part)}`
    const volumes = [...found.keys()]
      // As in PCP, only canonical numbers are volumes: `0` but not `00`.
      .filter((part) => part === String(Number(part)))
      .map((part) => ({ number: Number(part), path: path(part) }))
      .sort((a, b) => a.number - b.number)
    if (!found.has('meta')) throw new PcpError('PM_ERR_LOGFILE', `${base}: file ${base}.meta is missing`)
    if (volumes.length === 0) throw new PcpError('PM_ERR_LOGFILE', `${base}: data volumes are missing`)
    return { base, meta: path('meta'), index: found.has('index') ? path('index') : undefined, volumes }
  }
}

/** Prefers an uncompressed file. */
function rank(suffix: string): number {
  return COMPRESSION_SUFFIXES.indexOf(suffix)
}

/** Splits a path into its directory, without the final `/`, and the rest. */
function splitPath(path: string): [string, string] {
  const slash = path.lastIndexOf('/')
  return [slash === 0 ? '/' : path.slice(0, Math.max(0, slash)), path.slice(slash + 1)]
}
