/**
 * What stands in every bin entry: runs a part beside it, with the code that V8 made of it the last time. To compile a command anew costs
 * more than most commands do. docs/decisions/start-up.md
 *
 *     cache file   0 key, padded with blanks   128 code   128 + size / 2 the same code again
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { createRequire, wrap } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { constants, Script } from 'node:vm'
import { versionLine } from '../base/version.ts'
import { isTrustedPath } from '../sys/trusted-path.ts'
import type { Tool } from './lib/tool.ts'

/** A command as the build knows it. */
export interface Launch {
  /** Its file, beside this one in `parts`. */
  readonly part: string
  /** Stands for the content of that file. */
  readonly id: string
  /** Its --version is not the version of the package. */
  readonly hasOwnVersion?: true
}

/** What is in a part. */
interface Part {
  readonly tool: Tool
  main(tool: Tool): Promise<void>
}

/** Bytes of the key: 16 bytes at least of what V8 reads must be aligned. */
const KEY_BYTES = 128
const OTHERS_MAY_WRITE = 0o022

/** Runs a command; `--version` alone is answered at once, unless that means something else to it. */
export function launch({ part, id, hasOwnVersion }: Launch, folder: string): void {
  const [, program = 'pcp', ...args] = process.argv
  if (hasOwnVersion !== true && args.length === 1 && args[0] === '--version') {
    writeSync(2, versionLine(basename(program)))
    return
  }
  const file = join(folder, 'parts', part)
  // Commands on archives and on collectors use different functions: each kind finds those it needs, and no others.
  const kind = args.some((arg) => arg.startsWith('-a') || arg.startsWith('--archive')) ? 'archive' : 'live'
  const cache = cacheFile(`${part.replace(/\.cjs$/, '')}.${kind}`)
  const key = Buffer.alloc(KEY_BYTES, ' ')
  key.write(`${id} ${process.version} ${process.arch}`)
  const cachedData = cache === undefined ? undefined : codeIn(cache, key)
  // Our bundles are ASCII.
  const script = new Script(wrap(readFileSync(file, 'latin1')), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (cache !== undefined && script.cachedDataRejected !== false)
    process.once('exit', (status) => {
      // Not of one that has only said what it does not like.
      if (status === 0) keep(cache, key, script)
    })
  const module = { exports: {} as Part }
  const run = script.runInThisContext() as (...args: readonly unknown[]) => void
  run.call(module.exports, module.exports, createRequire(file), module, file, dirname(file))
  void module.exports.main(module.exports.tool)
}

/** Where the code of a part is kept for this user; undefined without a home, or when the user wants none. */
function cacheFile(name: string): string | undefined {
  const { XDG_CACHE_HOME, HOME, NODE_DISABLE_COMPILE_CACHE } = process.env
  const base = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined)
  // Windows has no owners to check.
  if (!base?.startsWith('/') || NODE_DISABLE_COMPILE_CACHE || process.geteuid === undefined) return undefined
  return join(base, 'pcp-ts', name)
}

/**
 * The code in a file, unless anybody else could have written it or it is of another build. V8 does not notice damage: it crashes. A second
 * copy is compared at the speed of memory; for a checksum Node would load modules first.
 */
function codeIn(file: string, key: Buffer): Buffer | undefined {
  let bytes: Buffer
  try {
    if (!isTrustedPath(dirname(file))) return undefined
    const fd = openSync(file, 'r')
    try {
      const { uid, mode } = fstatSync(fd)
      if (!isMine(uid) || (mode & OTHERS_MAY_WRITE) !== 0) return undefined
      bytes = readFileSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined // there is none yet
  }
  const size = (bytes.length - KEY_BYTES) / 2
  if (size <= 0 || bytes.compare(key, 0, KEY_BYTES, 0, KEY_BYTES) !== 0) return undefined
  const code = bytes.subarray(KEY_BYTES, KEY_BYTES + size)
  return code.equals(bytes.subarray(KEY_BYTES + size)) ? code : undefined
}

const isMine = (uid: number): boolean => uid === process.geteuid!()

/** Keeps the code of all functions that have run. Where that cannot be, the next start is as slow as this one: no reason to complain. */
function keep(file: string, key: Buffer, script: Script): void {
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
    const fd = openSync(own, 'wx', 0o600)
    try {
      for (const bytes of [key, code, code]) writeSync(fd, bytes)
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
