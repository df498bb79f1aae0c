/**
 * A file of memory-mapped values in its directory, from the first version to its end. Every version is written whole beside
 * it and then takes its name, so nobody ever sees half a file, whenever the process ends. docs/formats/mmv.md
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

/** A version that is not in place yet: of which file, written by which process and thread. */
const UNFINISHED = /^\.(.+)\.(\d+)\.\d+\.new$/

/** Where the file is, and who may read it. */
export interface FilePlace {
  readonly directory: string
  readonly name: string
  readonly mode: number
  readonly load?: LoadNative
}

/** One file that this process writes. */
export class PublishedFile {
  readonly #place: FilePlace
  #shared: SharedBytes | undefined
  /** Which file has the name, to know it from one that somebody else put there since. */
  #inode: bigint | undefined

  constructor(place: FilePlace) {
    this.#place = place
  }

  get path(): string {
    return join(this.#place.directory, this.#place.name)
  }

  /** Has a version been put in place? */
  get isOpen(): boolean {
    return this.#shared !== undefined
  }

  /** Do others see changes at once? */
  get isMapped(): boolean {
    return (this.#place.load ?? loadNative)() !== undefined
  }

  /**
   * Puts a version in place. `fill` writes the values, before anybody sees the file. EEXIST when a process that lives has
   * the name, otherwise Node's error on the directory.
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

  /** Makes what was written visible to others. */
  flush(): void {
    this.#shared?.flush()
  }

  /** Ends the writing; the file stays when `keep` is set. */
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
    rmSync(temporary, { force: true }) // left by a process of the same number
    const fd = openSync(temporary, 'wx', mode)
    try {
      fchmodSync(fd, mode) // whatever the umask: the agent is somebody else
      writeFileSync(fd, content) // all of it: to touch a page that a full disk has no room for would end the process
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(fd)
    }
    return temporary
  }

  /** The first time, or after somebody removed the file: a link fails where there is a file, so only one of two processes gets the name. */
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
        `${this.path} is written by process ${header.pid}: give this writer a name of its own`,
      )
    renameSync(temporary, this.path)
  }

  #isOurs(): boolean {
    return this.#inode !== undefined && inodeOf(this.path) === this.#inode
  }
}

/** Tells those who have an old version mapped that it counts no more. */
function invalidate(shared: SharedBytes): void {
  shared.bytes.fill(0, 8, 24)
  shared.flush()
  shared.close()
}

/** Removes what processes that were killed left behind while they wrote a file of such a name. */
export function removeUnfinished(directory: string, isName: (name: string) => boolean): void {
  for (const entry of readdirSync(directory)) {
    const [, name, pid] = UNFINISHED.exec(entry) ?? []
    if (name === undefined || !isName(name) || isAlive(Number(pid))) continue
    try {
      rmSync(join(directory, entry), { force: true })
    } catch {
      // Somebody else's, who has to remove it: it harms nobody.
    }
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}
