/**
 * Loads a program from the packs that the build makes (scripts/lib/programs.mjs), with the code that V8 made of them before: to compile a
 * command anew costs more than most commands do. docs/decisions/start-up.md
 *
 *     cache file   0 key, padded with blanks   128 code   128 + size the same code again   128 + 2 * size names of programs
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

/** Where the packs are. */
export interface Packs {
  readonly folder: string
  /** A hash of the content of each pack. */
  readonly hashes: Readonly<Record<string, string>>
  /** Loads what is in no pack. */
  readonly require: (id: string) => unknown
}

/** What a program exports: a command is a tool and what runs tools, a daemon runs by itself. */
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

/** Imports for all pieces: Node would warn of scripts that do, and this file is a module for it. */
const importModule = (url: string): Promise<unknown> => import(url)

/** Bytes of the key: 16 bytes at least of what V8 reads must be aligned. */
const KEY_BYTES = 128
const OTHERS_MAY_WRITE = 0o022
/** V8 forgets code that has not run for a while: what a longer run has is less than what there was. */
const MOST_SECONDS = 20
/** Several times what all programs together make of the largest pack: a larger file would cost more than it saves. */
const MOST_BYTES = 16 * 1024 * 1024
/** How long a file stays that no pack of this build is called like: another version may be in use as well. */
const MOST_UNUSED_MS = 7 * 24 * 3600 * 1000

/** Runs a command or daemon; `--version` alone is answered at once, unless that means something else to it. */
export function launch(id: string, packs: Packs, hasOwnVersion: boolean): void {
  const [, program = 'pcp', ...args] = process.argv
  if (!hasOwnVersion && args.length === 1 && args[0] === '--version') {
    writeSync(2, versionLine(basename(program)))
    return
  }
  // Commands on archives and on collectors use different functions.
  const kind = args.some((arg) => arg.startsWith('-a') || arg.startsWith('--archive')) ? 'archive' : 'live'
  const loader = new Loader(packs, `${id}.${kind}`)
  const { main, tool } = loader.require(id) as Program
  process.once('exit', (status) => {
    // A failed run has compiled little but error messages.
    if (status === 0 && process.uptime() < MOST_SECONDS) loader.keep()
  })
  void main(tool)
}

/** Loads the program of a thread, or of a part of another program. */
export function load(id: string, packs: Packs): void {
  new Loader(packs, id).require(id)
}

/** A pack that was loaded. */
interface Loaded {
  readonly file: string
  readonly pieces: Readonly<Record<string, Piece>>
  readonly script: Script
  readonly cache: string | undefined
  readonly key: Buffer
  /** The programs whose functions the kept code has. */
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

  /** Returns what a piece exports, `PACK/PIECE`, or what another module does. */
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
      this.#exports.delete(id) // who asks again is told again
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
    // Our packs are ASCII.
    const script = new Script(readFileSync(file, 'latin1'), {
      filename: file,
      ...(kept === undefined ? {} : { cachedData: kept.code }),
    })
    const programs = kept === undefined || script.cachedDataRejected !== false ? [] : kept.programs
    return { file, cache, key, programs, script, pieces: script.runInThisContext() as Loaded['pieces'] }
  }

  /** Keeps the code of all functions that have run, of this program and of those that ran before, for all programs. */
  keep(): void {
    for (const { cache, key, programs, script } of this.#loaded.values())
      if (cache !== undefined && !programs.includes(this.#program))
        keep(cache, key, script, [...programs, this.#program])
    if (this.#isTrusted && [...this.#loaded.values()].some(({ programs }) => programs.length === 0))
      removeUnused(this.#folder!, this.#packs.hashes)
  }
}

/** Where code is kept for this user; undefined without a home, when the user wants none, or where others could have written it. */
function cacheFolder(): string | undefined {
  const { XDG_CACHE_HOME, HOME, NODE_DISABLE_COMPILE_CACHE } = process.env
  const base = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined)
  // Windows has no owners to check.
  if (!base?.startsWith('/') || NODE_DISABLE_COMPILE_CACHE || process.geteuid === undefined) return undefined
  return join(base, 'pcp-ts')
}

/** Code in a file, and the programs whose functions it has. */
interface Kept {
  readonly code: Buffer
  readonly programs: readonly string[]
}

/**
 * The code in a file, unless anybody else could have written it or it is of another build. V8 does not notice damage: it crashes. A second
 * copy is compared at the speed of memory; for a checksum Node would load modules first.
 */
function readKept(file: string, key: Buffer): Kept | undefined {
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
    return undefined // there is none yet
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
    return false // there is none yet
  }
}

const isMine = (uid: number): boolean => uid === process.geteuid!()

/** Keeps the code of a pack. Where that cannot be, the next start is as slow as this one: no reason to complain. */
function keep(file: string, key: Buffer, script: Script, programs: readonly string[]): void {
  const own = `${file}.${process.pid}`
  try {
    // Not recursively: below /proc, where nothing can be made, Node 20 would try for ever.
    for (const folder of [dirname(dirname(file)), dirname(file)]) {
      if (existsSync(folder)) continue
      // Another user could not do anything with it, and might need a folder of that name.
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
      // it was not made
    }
  }
}

/** Removes what stays from versions that had other packs, and from processes that were killed while they wrote. */
function removeUnused(folder: string, packs: Readonly<Record<string, string>>): void {
  const before = Date.now() - MOST_UNUSED_MS
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      if (!Object.hasOwn(packs, name) && statSync(file).mtimeMs < before) unlinkSync(file)
    }
  } catch {
    // another process removes it as well
  }
}
