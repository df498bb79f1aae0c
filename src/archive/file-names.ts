/** Which files make an archive, and what a user's name for one means. docs/formats/archive.md §1 */
import type { ArchiveFiles } from '../base/byte-source.ts'
import { PcpError } from '../model/errors.ts'
import { attempt } from './volume.ts'

/** What compressed files may end in, in the order in which they are looked for. */
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

/** A file's name taken apart. */
export interface ArchiveFileName {
  readonly base: string
  /** `meta`, `index`, or the digits of a volume. */
  readonly part: string
  /** '' for a file that is not compressed. */
  readonly suffix: string
}

/** The files of one archive. */
export interface MemberFiles {
  /** Path without `.meta` and so on. */
  readonly base: string
  readonly meta: string
  readonly index: string | undefined
  /** Paths of volumes by number, ascending. */
  readonly volumes: readonly { readonly number: number; readonly path: string }[]
}

/** Takes the name of a file apart; undefined for what belongs to no archive. Directories in front stay in `base`. */
export function parseFileName(name: string): ArchiveFileName | undefined {
  const suffix = COMPRESSION_SUFFIXES.find((end) => name.endsWith(end) && name.lastIndexOf('.') > 0) ?? ''
  const plain = name.slice(0, name.length - suffix.length)
  const dot = plain.lastIndexOf('.')
  const part = plain.slice(dot + 1)
  if (dot === -1 || !/^(?:meta|index|\d+)$/.test(part)) return undefined
  return { base: plain.slice(0, dot), part, suffix }
}

/** Directory listings, each read once for a call that looks for many archives in few directories. */
export class Listings {
  readonly #files: ArchiveFiles
  readonly #lists = new Map<string, readonly string[]>()

  constructor(files: ArchiveFiles) {
    this.#files = files
  }

  /** Names in a directory, '' the current one. Throws the errno. */
  of(directory: string): readonly string[] {
    const known = this.#lists.get(directory)
    if (known !== undefined) return known
    const path = directory === '' ? '.' : directory
    const list = attempt(path, () => this.#files.list(path))
    this.#lists.set(directory, list)
    return list
  }

  /**
   * The base names that one element of a list stands for: those of all archives in a directory, otherwise one. A name that is that
   * of a file, compressed or not, means this file's archive; any other is a base name itself.
   */
  bases(name: string): string[] {
    if (name === '') throw new PcpError('PM_ERR_LOGFILE', 'An archive needs a name')
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

  /** The files of the archive with this base name. ENOENT without any, PM_ERR_LOGFILE without metadata or volumes. */
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
      // One way to write a number: `00` beside `0` is no volume, as in PCP.
      .filter((part) => part === String(Number(part)))
      .map((part) => ({ number: Number(part), path: path(part) }))
      .sort((a, b) => a.number - b.number)
    if (!found.has('meta')) throw new PcpError('PM_ERR_LOGFILE', `${base}: file ${base}.meta is missing`)
    if (volumes.length === 0) throw new PcpError('PM_ERR_LOGFILE', `${base}: there is no data volume`)
    return { base, meta: path('meta'), index: found.has('index') ? path('index') : undefined, volumes }
  }
}

/** A plain file is preferred to compressed ones. */
function rank(suffix: string): number {
  return COMPRESSION_SUFFIXES.indexOf(suffix)
}

/** Directory with its final `/` taken off, and the rest. */
function splitPath(path: string): [string, string] {
  const slash = path.lastIndexOf('/')
  return [slash === 0 ? '/' : path.slice(0, Math.max(0, slash)), path.slice(slash + 1)]
}
