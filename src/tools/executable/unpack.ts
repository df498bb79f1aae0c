/**
 * Writes the files of the single executable to a directory, once per build and user: threads, child processes and the page need
 * files. docs/decisions/single-executable.md
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { assertTrustedPrefix, trustedPath } from '../../sys/trusted-path.ts'

/** The files of a build. */
export interface Packed {
  /** Hash of all contents. */
  readonly hash: string
  /** Path, mode and size of each file, in the order of the contents. */
  readonly files: readonly (readonly [path: string, mode: number, size: number])[]
  /** Returns the contents, one after the other. */
  readonly contents: () => Uint8Array
}

/** The process for which files are unpacked. */
export interface Unpacker {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly uid: number
  readonly pid: number
  /** The executable: unpacked programs name it in their first line. */
  readonly execPath: string
  readonly now: () => number
}

/** Directory for root, which other users share: a collector that root starts continues as another account. */
const SYSTEM = '/var/cache/pcp-ts-executable'
const FOLDER = 'pcp-ts-executable'
const SHEBANG = '#!/usr/bin/env node\n'
/** Linux reads this many characters of a first line. */
const MOST_SHEBANG = 120
/** Builds of which the files are kept, the last used ones. */
const MOST_BUILDS = 5
const DAY_MS = 86_400_000
const VARIABLE = 'PCP_TS_UNPACK_DIR'

/** Returns the directory with the files; unpacks them unless all are there. Throws with all reasons if no directory can be used. */
export function unpack(packed: Packed, who: Unpacker, system: string = SYSTEM): string {
  const name = `${packed.hash.slice(0, 16)}-${createHash('sha256').update(who.execPath).digest('hex').slice(0, 8)}`
  const shared = join(system, name)
  if (isUsable(shared, packed, who)) return shared
  const reasons: string[] = []
  for (const folder of foldersFor(who, system)) {
    const dir = join(folder, name)
    try {
      assertTrustedPrefix(folder, 'choose another directory')
      if (existsSync(folder) && isUsable(dir, packed, who)) {
        touch(dir, who)
        return dir
      }
      makeFolder(folder, folder === system ? 0o755 : 0o700)
      write(dir, packed, who, folder === system)
      removeOld(folder, name, who)
      return dir
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new PcpError(
    'EACCES',
    `cannot unpack the files of this program: ${reasons.join('; ')}. Set ${VARIABLE} to a directory that only this user can write to`,
  )
}

/** Returns the directories to try. */
function foldersFor({ env, uid }: Unpacker, system: string): readonly string[] {
  const chosen = env[VARIABLE]
  if (chosen) return [chosen]
  // systemd's CacheDirectory=; a list is separated by colons.
  const caches = [env['CACHE_DIRECTORY']?.split(':')[0], env['XDG_CACHE_HOME'], homeCache(env['HOME'])]
  return [
    ...(uid === 0 ? [system] : []),
    ...caches.filter((path) => path?.startsWith('/')).map((path) => join(path!, FOLDER)),
    join(tmpdir(), `${FOLDER}-${uid}`),
  ]
}

function homeCache(home: string | undefined): string | undefined {
  return home ? join(home, '.cache') : undefined
}

/** Returns whether all files are there, and only this user or root can have written them. */
function isUsable(dir: string, { files }: Packed, who: Unpacker): boolean {
  if (!existsSync(dir)) return false
  try {
    trustedPath(dir)
    return files.every(([path, , size]) => {
      const stat = lstatSync(join(dir, path), { throwIfNoEntry: false })
      // The first line of programs has another length.
      return stat?.isFile() === true && (stat.size === size || isProgram(path)) && isOwn(stat.uid, who)
    })
  } catch {
    return false
  }
}

const isOwn = (owner: number, { uid }: Unpacker): boolean => owner === 0 || owner === uid
const isProgram = (path: string): boolean => /^bin\/[^/]+$/.test(path)

/** Creates a directory and its parent; others belong to someone. */
function makeFolder(folder: string, mode: number): void {
  for (const dir of [dirname(folder), folder]) if (!existsSync(dir)) mkdirSync(dir, mode)
  trustedPath(folder, 'remove it')
}

/** Writes all files beside the directory, then renames: other processes see all or none. */
function write(dir: string, packed: Packed, who: Unpacker, isShared: boolean): void {
  const own = `${dir}.${who.pid}`
  rmSync(own, { recursive: true, force: true })
  try {
    mkdirSync(own, 0o700)
    const contents = packed.contents()
    const made = new Set<string>()
    let at = 0
    for (const [path, mode, size] of packed.files) {
      const file = join(own, path)
      if (!made.has(dirname(file))) mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
      made.add(dirname(file))
      const bytes = contents.subarray(at, at + size)
      writeFileSync(file, isProgram(path) ? withInterpreter(bytes, who.execPath) : bytes, { mode })
      // Not subject to the umask.
      chmodSync(file, mode)
      at += size
    }
    if (isShared) for (const folder of [...made, own]) chmodSync(folder, 0o755)
    sync(own)
    replace(own, dir, packed, who)
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

/** Lets the kernel run a program with this executable, as there may be no Node. */
function withInterpreter(bytes: Uint8Array, execPath: string): Uint8Array {
  const text = Buffer.from(bytes).toString('utf8')
  if (!text.startsWith(SHEBANG) || /\s/.test(execPath) || execPath.length > MOST_SHEBANG) return bytes
  return Buffer.from(`#!${execPath}\n${text.slice(SHEBANG.length)}`)
}

function sync(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Moves the new directory into place, unless another process was faster. */
function replace(own: string, dir: string, packed: Packed, who: Unpacker): void {
  try {
    renameSync(own, dir)
  } catch (error) {
    if (isUsable(dir, packed, who)) return
    if (!existsSync(dir)) throw error
    // Incomplete: someone has removed files.
    const broken = `${own}.broken`
    renameSync(dir, broken)
    rmSync(broken, { recursive: true, force: true })
    renameSync(own, dir)
  }
}

/** Marks the directory as used, once a day. */
function touch(dir: string, { now }: Unpacker): void {
  try {
    if (now() - lstatSync(dir).mtimeMs > DAY_MS) utimesSync(dir, now() / 1000, now() / 1000)
  } catch {
    // the directory belongs to root
  }
}

/** Removes the files of builds beyond the last used ones, and what killed processes have left. */
function removeOld(folder: string, current: string, { now }: Unpacker): void {
  const ages = readdirSync(folder)
    .filter((name) => name !== current)
    .map((name) => ({ name, usedMs: lstatSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.usedMs - a.usedMs)
  const isBuild = (name: string): boolean => /^[0-9a-f]{16}-[0-9a-f]{8}$/.test(name)
  const isLeft = ({ name, usedMs }: { name: string; usedMs: number }): boolean =>
    /^[0-9a-f]{16}-[0-9a-f]{8}\.\d+(?:\.broken)?$/.test(name) && now() - usedMs > DAY_MS
  const old = ages.filter(({ name }) => isBuild(name)).slice(MOST_BUILDS - 1)
  for (const { name } of [...old, ...ages.filter(isLeft)])
    rmSync(join(folder, name), { recursive: true, force: true })
}
