/**
 * An MMV file during its lifetime. Each version is written completely to a temporary file that is then renamed, so that no
 * reader ever sees half a file, whenever the process ends. docs/formats/mmv.md
 */
import {
  closeSync,
  fchmodSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { PcpError } from '../model/errors.ts'
import { makeDir } from '../sys/make-dir.ts'
import { type LoadNative, loadNative } from '../sys/native/calls.ts'
import { type SharedBytes, shareBytes } from '../sys/native/shared-bytes.ts'
import { isAlive } from '../sys/process-identity.ts'
import { headerOf, isOwnerAlive } from './owner.ts'

/** A temporary file: name of the MMV file, PID and thread of its writer. */
const UNFINISHED = /^\.(.+)\.(\d+)\.\d+\.new$/

/** Where the file is, and who may read it. */
export interface FileLocation {
  readonly directory: string
  readonly name: string
  readonly mode: number
  readonly load?: LoadNative
}

/** A file written by this process. */
export class PublishedFile {
  readonly #place: FileLocation
  #shared: SharedBytes | undefined
  /** Inode of our file, to detect that another process replaced it. */
  #inode: bigint | undefined

  constructor(place: FileLocation) {
    this.#place = place
  }

  get path(): string {
    return join(this.#place.directory, this.#place.name)
  }

  /** Whether a version was published. */
  get isOpen(): boolean {
    return this.#shared !== undefined
  }

  /** Whether readers see changes immediately. */
  get isMapped(): boolean {
    return (this.#place.load ?? loadNative)() !== undefined
  }

  /**
   * Publishes a version. `fill` writes the values before the file becomes visible. EEXIST when a running process writes a
   * file of this name, otherwise Node's error for the directory.
   */
  replace(content: Uint8Array, fill: (bytes: Uint8Array) => void): void {
    const temporary = this.#writeBeside(content)
    let shared: SharedBytes | undefined
    try {
      shared = shareBytes(temporary, this.#place.load ?? loadNative)
      fill(shared.bytes)
      shared.flush()
      const inode = inodeOf(temporary)
      if (this.#isOurs()) renameSync(temporary, this.path)
      else this.#takeName(temporary)
      this.#inode = inode
    } catch (error) {
      shared?.close()
      rmSync(temporary, { force: true })
      throw error
    }
    const old = this.#shared
    this.#shared = shared
    if (old !== undefined) invalidate(old)
  }

  /** Makes written values visible to readers. */
  flush(): void {
    this.#shared?.flush()
  }

  /** Closes the file, which is removed unless `keep` is set. */
  close(keep: boolean): void {
    const shared = this.#shared
    if (shared === undefined) return
    this.#shared = undefined
    shared.flush()
    if (!keep && this.#isOurs()) {
      unlinkSync(this.path)
      invalidate(shared)
    } else shared.close()
  }

  #writeBeside(content: Uint8Array): string {
    const { directory, name, mode } = this.#place
    makeDir(directory, 0o755)
    removeUnfinished(directory, (other) => other === name)
    const temporary = join(directory, `.${name}.${process.pid}.${threadId}.new`)
    rmSync(temporary, { force: true }) // left by an earlier process with the same PID
    const fd = openSync(temporary, 'wx', mode)
    try {
      fchmodSync(fd, mode) // regardless of the umask, as the agent runs as another user
      writeFileSync(fd, content) // all of it: writing to an unallocated page on a full disk raises SIGBUS
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(fd)
    }
    return temporary
  }

  /** For the first version, or after the file was removed: a link fails if the file exists, so only one of two processes succeeds. */
  #takeName(temporary: string): void {
    try {
      linkSync(temporary, this.path)
      unlinkSync(temporary)
      return
    } catch (error) {
      const { code } = PcpError.from(error)
      if (code !== 'EEXIST' && code !== 'EPERM') throw error // EPERM: a file system without links
    }
    const header = headerOf(this.path)
    if (header !== undefined && isOwnerAlive(header))
      throw new PcpError(
        'EEXIST',
        `${this.path} is written by process ${header.pid}: give this writer another name`,
      )
    renameSync(temporary, this.path)
  }

  #isOurs(): boolean {
    return this.#inode !== undefined && inodeOf(this.path) === this.#inode
  }
}

/** Marks an old version as invalid for readers that have it mapped. */
function invalidate(shared: SharedBytes): void {
  shared.bytes.fill(0, 8, 24)
  shared.flush()
  shared.close()
}

/** Removes temporary files left by killed processes. */
export function removeUnfinished(directory: string, isName: (name: string) => boolean): void {
  for (const entry of readdirSync(directory)) {
    const [, name, pid] = UNFINISHED.exec(entry) ?? []
    if (name === undefined || !isName(name) || isAlive(Number(pid))) continue
    try {
      rmSync(join(directory, entry), { force: true })
    } catch {
      // Belongs to another user. It does no harm.
    }
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}
