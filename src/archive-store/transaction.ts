/**
 * Replaces files by other files atomically, even if the process or the machine crashes. docs/formats/staging.md
 *
 *     begin ─► stage outputs, name inputs ─► commit: sync files ─► lock ─► check inputs ─► manifest ─► apply ─► clean up
 *
 * After a crash before the manifest exists, the inputs are valid, and the next transaction in the directory removes the outputs. After a
 * crash later, readers see the outputs instead of the inputs (sys/staged-view.ts), and the next transaction completes it.
 */
import { constants } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type Disk, nodeDisk } from '../sys/disk.ts'
import { type FileLock, takeLock } from '../sys/file-lock.ts'
import { hasParentEnded } from '../sys/parent-process.ts'
import {
  COMMIT,
  COORDINATOR,
  type FileIdentity,
  formatManifest,
  identifyFile,
  isStaging,
  isUnchanged,
  type Manifest,
  type StagedFile,
  stagingName,
  writeText,
} from '../sys/staging.ts'
import {
  applyManifest,
  beginStaging,
  endStaging,
  type RecoveryOptions,
  recoverLocked,
  removeStaging,
} from './recovery.ts'

/** Environment of a transaction; only the defaults are used outside tests. */
export interface TransactionOptions extends RecoveryOptions {
  readonly disk?: Disk
  /** Takes a lock file; resolves to undefined on timeout. */
  readonly lock?: (path: string, signal?: AbortSignal) => Promise<FileLock | undefined>
  /** Stops waiting for locks. */
  readonly signal?: AbortSignal
}

/** Mode of staging directories: every reader of the directory needs the manifest. */
const STAGING_MODE = 0o755
/** Commits take milliseconds, except on slow disks. */
const LOCK_MS = 60_000
/** Errors of a directory in which this process can create neither a lock nor anything else. */
const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])
/** Name of a directory's lock file during a commit. */
const LOCK = '.pcp-ts.lock'

async function takeStoreLock(path: string, signal?: AbortSignal): Promise<FileLock | undefined> {
  return await takeLock(path, { limitMs: LOCK_MS, ...(signal === undefined ? {} : { signal }) })
}

/**
 * Completes or rolls back transactions of ended processes in a directory; call it before listing files to change. No effect if
 * the directory is missing or not writable. Throws EBUSY as `commit`, and errors of the file system.
 */
export async function recover(named: string, options: TransactionOptions = {}): Promise<void> {
  const { disk = nodeDisk } = options
  if (disk.stat(named)?.isDirectory !== true) return
  const directory = disk.realpath(resolve(named))
  // Also removes a lock that was left behind.
  if (!disk.list(directory).some((name) => isStaging(name) || name.startsWith(LOCK))) return
  let lock: FileLock
  try {
    lock = await lockDirectory(directory, options)
  } catch (error) {
    if (UNWRITABLE.has(PcpError.from(error).code)) return
    throw error
  }
  try {
    recoverLocked(directory, options)
  } finally {
    lock.release()
  }
}

async function lockDirectory(directory: string, options: TransactionOptions): Promise<FileLock> {
  const { lock = takeStoreLock, signal } = options
  const path = join(directory, LOCK)
  const taken = await lock(path, signal)
  if (taken !== undefined) return taken
  throw new PcpError('EBUSY', `${directory} is being changed by another process: try again (${path})`)
}

/** One transaction. Ends with `commit` or `abandon`. */
export class Transaction {
  readonly #directory: string
  readonly #options: TransactionOptions
  readonly #disk: Disk
  /** Staging directories by the directory that contains them, the transaction's own first. */
  readonly #staging = new Map<string, string>()
  /** Final path → staged path. */
  readonly #outputs = new Map<string, string>()
  readonly #inputs = new Map<string, FileIdentity>()
  readonly #expected: FileIdentity[] = []
  #hasEnded = false

  /** Starts a transaction whose manifest will be in `directory`, usually the inputs' directory. Nothing is created yet. */
  constructor(directory: string, options: TransactionOptions = {}) {
    this.#options = options
    this.#disk = options.disk ?? nodeDisk
    this.#directory = realDirectory(directory, this.#disk)
  }

  /** Returns the staging directory for files of a directory, created on first use. Throws Node's error. */
  staging(directory: string = this.#directory): string {
    const parent = realDirectory(directory, this.#disk)
    const known = this.#staging.get(parent)
    if (known !== undefined) return known
    const path = join(parent, stagingName())
    this.#disk.mkdir(path, STAGING_MODE)
    beginStaging(path)
    this.#staging.set(parent, path)
    setMode(this.#disk, path, STAGING_MODE)
    return path
  }

  /** Returns the path at which to create the file that will be at `path`. Throws Node's error. */
  stage(path: string): string {
    const to = this.#real(path)
    const staged = join(this.staging(dirname(to)), basename(to))
    this.#outputs.set(to, staged)
    return staged
  }

  /** Makes a file that a program created in a staging directory an output, with another name. */
  stageAs(staged: string, path: string): void {
    this.#outputs.set(this.#real(path), staged)
  }

  /** Lists the staging directory of the transaction's directory. */
  staged(): string[] {
    return this.#disk.list(this.staging())
  }

  /** Makes the commit fail if a file has changed since `mark`. */
  expect(mark: FileIdentity): void {
    this.#expected.push({ ...mark, path: this.#real(mark.path) })
  }

  /** Removes an input, and the output that would have replaced it, from the transaction. */
  withdraw(path: string): void {
    this.#inputs.delete(this.#real(path))
    this.unstage(path)
  }

  /** Removes an output and its staged file from the transaction. */
  unstage(path: string): void {
    const to = this.#real(path)
    const staged = this.#outputs.get(to)
    if (staged === undefined) return
    this.#outputs.delete(to)
    if (this.#disk.stat(staged) !== undefined) this.#disk.unlink(staged)
  }

  /** Adds an input, in its marked or present state: the commit removes it unless an output replaces it. ENOENT if it is missing. */
  remove(file: string | FileIdentity): void {
    const path = this.#real(typeof file === 'string' ? file : file.path)
    const mark = typeof file === 'string' ? identifyFile(this.#disk, path) : { ...file, path }
    if (mark === undefined) throw new PcpError('ENOENT', `${file}: no such file`)
    this.#inputs.set(mark.path, mark)
  }

  /**
   * Makes the outputs valid and removes the inputs. EEXIST if the name of an output belongs to a file other than an input, ESTALE if
   * an input has changed, EBUSY if another process holds the lock, ECANCELED if the command that started this one has ended,
   * and errors of the file system; then nothing has changed. Once the manifest is durable, errors are not thrown any more: readers
   * see the outputs, and the next transaction completes the rest.
   */
  async commit(): Promise<void> {
    if (this.#hasEnded) return
    try {
      await this.#commit()
    } catch (error) {
      throw withoutStaging(error, this.#directory)
    } finally {
      this.abandon()
    }
  }

  async #commit(): Promise<void> {
    this.#syncFiles()
    const locks = await this.#lockAll()
    try {
      const concerns = (path: string): boolean => this.#outputs.has(path) || this.#inputs.has(path)
      for (const directory of this.#directories()) recoverLocked(directory, this.#options, concerns)
      this.#check()
      const manifest = this.#manifest()
      const coordinator = this.staging()
      this.#writeManifest(coordinator, manifest)
      attempt(() => applyManifest(coordinator, manifest, [...this.#staging.values()], this.#disk))
      this.#end()
    } finally {
      for (const lock of locks) lock.release()
    }
  }

  /** Removes the staged files; no effect after `commit`. If that fails, the next transaction removes them. */
  abandon(): void {
    if (this.#hasEnded) return
    for (const path of this.#staging.values()) attempt(() => removeStaging(path, this.#disk))
    this.#end()
  }

  #end(): void {
    this.#hasEnded = true
    for (const path of this.#staging.values()) endStaging(path)
  }

  /** Resolves links in the directory of a path, because locks and manifests depend on its name. */
  #real(path: string): string {
    const absolute = resolve(path)
    return join(realDirectory(dirname(absolute), this.#disk), basename(absolute))
  }

  /** Returns all directories in which names change. */
  #directories(): string[] {
    const paths = [...this.#outputs.keys(), ...this.#inputs.keys()]
    return [...new Set([this.#directory, ...paths.map((path) => dirname(path))])].sort()
  }

  #syncFiles(): void {
    const coordinator = this.staging()
    // Inputs in other directories: readers of those must find the manifest too.
    for (const directory of this.#directories()) this.staging(directory)
    for (const [to, staged] of this.#outputs) syncFile(this.#disk, staged, to)
    // An input truncated by a power cut would not be recognized any more.
    for (const { path } of this.#inputs.values()) syncFile(this.#disk, path, path)
    for (const [parent, staging] of this.#staging) {
      if (staging !== coordinator)
        writeText(this.#disk, join(staging, COORDINATOR), `${relative(parent, coordinator)}\n`)
      this.#disk.syncDirectory(staging)
      this.#disk.syncDirectory(parent)
    }
  }

  async #lockAll(): Promise<FileLock[]> {
    const locks: FileLock[] = []
    try {
      // In sorted order, so that two transactions never deadlock.
      for (const directory of this.#directories()) locks.push(await lockDirectory(directory, this.#options))
      return locks
    } catch (error) {
      for (const lock of locks) lock.release()
      throw error
    }
  }

  #check(): void {
    signalAborted(this.#options.signal)
    if (hasParentEnded()) throw new PcpError('ECANCELED', 'the command that started this one has ended')
    for (const input of [...this.#inputs.values(), ...this.#expected])
      if (!isUnchanged(this.#disk, input))
        throw new PcpError('ESTALE', `${input.path} was changed by another process: try again`)
    for (const path of [...this.#outputs.keys(), ...this.#inputs.keys()]) {
      const stat = this.#disk.stat(path)
      // Directories and other files could not be replaced after the commit.
      if (stat?.isDirectory === true) throw new PcpError('EISDIR', path)
      if (stat !== undefined && !this.#inputs.has(path))
        throw new PcpError('EEXIST', `${path}: already exists`)
    }
  }

  #manifest(): Manifest {
    const outputs = [...this.#outputs].map(
      ([to, path]): StagedFile => ({ to, ...identifyFile(this.#disk, path)! }),
    )
    const inputs = [...this.#inputs.values()].filter(({ path }) => !this.#outputs.has(path))
    // Readers that do not know manifests find an archive by its metadata, so that appears last and is removed first.
    return {
      outputs: outputs.sort((a, b) => Number(isMeta(a.to)) - Number(isMeta(b.to))),
      inputs: inputs.sort((a, b) => Number(isMeta(b.path)) - Number(isMeta(a.path))),
    }
  }

  #writeManifest(coordinator: string, manifest: Manifest): void {
    const path = join(coordinator, COMMIT)
    writeText(this.#disk, `${path}.new`, formatManifest(manifest, dirname(coordinator)))
    this.#disk.rename(`${path}.new`, path)
    // If this fails, the outputs are removed, and a manifest without them is void.
    this.#disk.syncDirectory(coordinator)
  }
}

function isMeta(path: string): boolean {
  return /\.meta(?:\.[^./]+)?$/.test(path)
}

/** Runs an action that recovery repeats if the file system fails now. */
function attempt(action: () => void): void {
  try {
    action()
  } catch (error) {
    if (!isOfSystem(error)) throw error
  }
}

function isOfSystem(error: unknown): boolean {
  return typeof (error as { code?: unknown } | undefined)?.code === 'string'
}

/** Returns an error with the directory and the final names of files instead of staged ones. */
function withoutStaging(error: unknown, directory: string): unknown {
  if (error instanceof PcpError || !isOfSystem(error)) return error
  const { code, message } = PcpError.from(error, directory)
  return new PcpError(code, message.replaceAll(/\.pcp-ts\.[0-9a-f-]+\/?/g, ''), { cause: error })
}

function signalAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new PcpError('EINTR', 'interrupted')
}

/** Syncs a file; `name` is its name in errors. */
function syncFile(disk: Disk, path: string, name: string): void {
  const fd = disk.open(path, constants.O_RDONLY)
  try {
    disk.sync(fd)
  } catch (error) {
    throw PcpError.from(error, name)
  } finally {
    disk.close(fd)
  }
}

/** Resolves links; a missing directory is returned unchanged. */
function realDirectory(path: string, disk: Disk): string {
  const absolute = resolve(path)
  return disk.stat(absolute) === undefined ? absolute : disk.realpath(absolute)
}

/** Sets the mode regardless of the umask, because readers of the directory need the manifest. */
function setMode(disk: Disk, path: string, mode: number): void {
  const fd = disk.open(path, constants.O_RDONLY)
  try {
    disk.setMode(fd, mode)
  } finally {
    disk.close(fd)
  }
}
