/**
 * Loads a program from the packs made by the build (scripts/lib/programs.mjs), with V8's cached code: compiling a command takes longer
 * than running most commands. docs/decisions/start-up.md
 *
 *     cache file   0 key, padded with blanks   128 code   128 + size copy of the code   128 + 2 * size names of programs
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { versionLine } from '../base/version.ts'
import { isTrustedPath } from '../sys/trusted-path.ts'
import type { Tool } from './lib/tool.ts'

/** The packs of a build. */
export interface Packs {
  readonly folder: string
  /** Content hash of each pack. */
  readonly hashes: Readonly<Record<string, string>>
  /** Loads modules that are not in a pack. */
  readonly require: (id: string) => unknown
}

/** Exports of a program: a command exports a tool and a function to run it; a daemon runs when loaded. */
interface Program {
  readonly tool?: Tool
  main(tool?: Tool): Promise<void>
}

type Piece = (
  exports: object,
  require: (id: string) => unknown,
  filename: string,
  dirname: string,
  load: (url: string) => Promise<unknown>,
) => void

/** Imports for all pieces: in scripts compiled by `vm` Node would warn about `import()`. */
const importModule = (url: string): Promise<unknown> => import(url)

/** Size of the key: V8's data must be aligned to 16 bytes. */
const KEY_BYTES = 128
const OTHERS_MAY_WRITE = 0o022
/** V8 discards code that has not run for a while, so a longer run would cache less than a short one. */
const MOST_SECONDS = 20
/** Several times the code of all programs in the largest pack; loading a larger file would cost more than it saves. */
const MOST_BYTES = 16 * 1024 * 1024
/** How long unused cache files are kept: another version may use them. */
const MOST_UNUSED_MS = 7 * 24 * 3600 * 1000

/** Runs a command or daemon; a sole `--version` is answered without loading it, unless the program handles it itself. */
export function launch(id: string, packs: Packs, hasOwnVersion: boolean): void {
  const [, program = 'pcp', ...args] = process.argv
  if (!hasOwnVersion && args.length === 1 && args[0] === '--version') {
    writeSync(2, versionLine(basename(program)))
    return
  }
  // Commands on archives and on collectors run different functions.
  const kind = args.some((arg) => arg.startsWith('-a') || arg.startsWith('--archive')) ? 'archive' : 'live'
  const loader = new Loader(packs, `${id}.${kind}`)
  const { main, tool } = loader.require(id) as Program
  process.once('exit', (status) => {
    // A failed run has compiled little besides error messages.
    if (status === 0 && process.uptime() < MOST_SECONDS) loader.keep()
  })
  void main(tool)
}

/** Loads the program of a thread, or of a part of another program. */
export function load(id: string, packs: Packs): void {
  new Loader(packs, id).require(id)
}

/** A loaded pack. */
interface Loaded {
  readonly file: string
  readonly pieces: Readonly<Record<string, Piece>>
  readonly script: Script
  readonly cache: string | undefined
  readonly key: Buffer
  /** Programs whose functions are in the cached code. */
  readonly programs: readonly string[]
}

class Loader {
  readonly #packs: Packs
  readonly #program: string
  readonly #loaded = new Map<string, Loaded>()
  readonly #exports = new Map<string, object>()
  readonly #folder = cacheFolder()
  readonly #isTrusted = this.#folder !== undefined && isTrusted(this.#folder)

  constructor(packs: Packs, program: string) {
    this.#packs = packs
    this.#program = program
  }

  /** Returns the exports of a piece, `PACK/PIECE`, or of another module. */
  readonly require = (id: string): unknown => {
    const known = this.#exports.get(id)
    if (known !== undefined) return known
    const slash = id.indexOf('/')
    const pack = id.slice(0, slash)
    const hash = this.#packs.hashes[pack]
    if (slash < 0 || hash === undefined) return this.#packs.require(id)
    let loaded = this.#loaded.get(pack)
    if (loaded === undefined) {
      loaded = this.#load(pack, hash)
      this.#loaded.set(pack, loaded)
    }
    const exports = {}
    this.#exports.set(id, exports)
    try {
      loaded.pieces[id.slice(slash + 1)]!(
        exports,
        this.require,
        loaded.file,
        this.#packs.folder,
        importModule,
      )
    } catch (error) {
      this.#exports.delete(id) // so that the next require throws again
      throw error
    }
    return exports
  }

  #load(pack: string, hash: string): Loaded {
    const file = join(this.#packs.folder, `${pack}.pack.js`)
    const cache = this.#folder === undefined ? undefined : join(this.#folder, pack)
    const key = Buffer.alloc(KEY_BYTES, ' ')
    key.write(`${hash} ${process.version} ${process.arch}`)
    const kept = this.#isTrusted ? readKept(cache!, key) : undefined
    // The packs are ASCII.
    const script = new Script(readFileSync(file, 'latin1'), {
      filename: file,
      ...(kept === undefined ? {} : { cachedData: kept.code }),
    })
    const programs = kept === undefined || script.cachedDataRejected !== false ? [] : kept.programs
    return { file, cache, key, programs, script, pieces: script.runInThisContext() as Loaded['pieces'] }
  }

  /** Writes the code of all functions run so far, by this and earlier programs, to the cache. */
  keep(): void {
    for (const { cache, key, programs, script } of this.#loaded.values())
      if (cache !== undefined && !programs.includes(this.#program))
        keep(cache, key, script, [...programs, this.#program])
    if (this.#isTrusted && [...this.#loaded.values()].some(({ programs }) => programs.length === 0))
      removeUnused(this.#folder!, this.#packs.hashes)
  }
}

/** Returns the user's cache directory; undefined without a home, if disabled, or if other users can write to it. */
function cacheFolder(): string | undefined {
  const { XDG_CACHE_HOME, HOME, NODE_DISABLE_COMPILE_CACHE } = process.env
  const base = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined)
  // Windows has no file owners to check.
  if (!base?.startsWith('/') || NODE_DISABLE_COMPILE_CACHE || process.geteuid === undefined) return undefined
  return join(base, 'pcp-ts')
}

/** Code in a file, and the programs whose functions it contains. */
interface CachedCode {
  readonly code: Buffer
  readonly programs: readonly string[]
}

/**
 * Reads cached code, unless other users could have written it or it is from another build. V8 crashes on damaged code, so the file has
 * two copies; comparing them is fast, while for a checksum Node would load modules first.
 */
function readKept(file: string, key: Buffer): CachedCode | undefined {
  let bytes: Buffer
  try {
    const fd = openSync(file, 'r')
    try {
      const { uid, mode, size } = fstatSync(fd)
      if (!isMine(uid) || (mode & OTHERS_MAY_WRITE) !== 0 || size > MOST_BYTES) return undefined
      bytes = readFileSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined // no cache yet
  }
  if (bytes.length < KEY_BYTES + 4 || bytes.compare(key, 0, KEY_BYTES - 4, 0, KEY_BYTES - 4) !== 0)
    return undefined
  const size = bytes.readUInt32LE(KEY_BYTES - 4)
  const end = KEY_BYTES + 2 * size
  if (end > bytes.length) return undefined
  const code = bytes.subarray(KEY_BYTES, KEY_BYTES + size)
  if (!code.equals(bytes.subarray(KEY_BYTES + size, end))) return undefined
  return { code, programs: bytes.toString('latin1', end).split(' ') }
}

function isTrusted(folder: string): boolean {
  try {
    return isTrustedPath(folder)
  } catch {
    return false // no cache yet
  }
}

const isMine = (uid: number): boolean => uid === process.geteuid!()

/** Writes the code of a pack to the cache. Failures are ignored: the next start is merely as slow as this one. */
function keep(file: string, key: Buffer, script: Script, programs: readonly string[]): void {
  const own = `${file}.${process.pid}`
  try {
    // Not recursive: below /proc, where no directory can be created, Node 20 would loop forever.
    for (const folder of [dirname(dirname(file)), dirname(file)]) {
      if (existsSync(folder)) continue
      // The cache would be useless for another user, who may need a folder of that name.
      if (!isMine(statSync(dirname(folder)).uid)) return
      mkdirSync(folder, 0o700)
    }
    if (!isTrustedPath(dirname(file))) return
    const code = script.createCachedData()
    key.writeUInt32LE(code.length, KEY_BYTES - 4)
    const fd = openSync(own, 'wx', 0o600)
    try {
      for (const bytes of [key, code, code, Buffer.from(programs.join(' '))]) writeSync(fd, bytes)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(own, file)
  } catch {
    try {
      unlinkSync(own)
    } catch {
      // could not be created
    }
  }
}

/** Removes cache files of versions with other packs, and of processes killed while writing. */
function removeUnused(folder: string, packs: Readonly<Record<string, string>>): void {
  const before = Date.now() - MOST_UNUSED_MS
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      if (!Object.hasOwn(packs, name) && statSync(file).mtimeMs < before) unlinkSync(file)
    }
  } catch {
    // another process has removed it
  }
}
