/**
 * A disk in memory with the semantics and errors of Linux. It has a journal of its changes for crash-states.ts, injected faults, a
 * limited size, and processes that can be stopped between any two operations. memory-disk.test.ts compares it with a real disk.
 */
import { constants } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Disk, DiskStat } from '../../src/sys/disk.ts'
import {
  type DirectoryNode,
  type DiskImage,
  type Failing,
  type FileNode,
  isFile,
  type JournalEntry,
  NODE_BYTES,
  systemError,
  Volume,
} from './disk-volume.ts'

/** An operation about to run. */
export interface DiskCall {
  readonly name: keyof Disk
  /** Absolute path of the file, also for operations on a descriptor. */
  readonly path: string
  /** Second path of `link` and `rename`. */
  readonly to: string | undefined
  /** Bytes of a `write`. */
  readonly length: number | undefined
  /** Number of earlier operations of the process. */
  readonly index: number
  /** Number of earlier operations that change or sync something; undefined for reads. */
  readonly change: number | undefined
}

/** The errno name of an injected error, or the byte count of a short write, at least one. */
export type DiskFault = string | { readonly short: number }

/** Hooks and faults of one process. */
export interface ProcessOptions {
  /** Runs before each operation; may throw or call `stop`. */
  readonly before?: (call: DiskCall) => void
  readonly fault?: (call: DiskCall) => DiskFault | undefined
}

/** Initial content and limits of a disk. */
export interface MemoryDiskOptions extends ProcessOptions {
  /** Initial content, all synced. Default an empty `/`. */
  readonly image?: DiskImage
  /** Size of the disk in bytes. Default unlimited. */
  readonly capacity?: number
  /** Default: a clock that advances by one millisecond per call. */
  readonly nowMs?: () => number
}

/** Thrown by every operation of a stopped process. */
export class ProcessStopped extends Error {
  constructor() {
    super('the process was stopped')
    this.name = 'ProcessStopped'
  }
}

interface Opening {
  readonly node: FileNode | DirectoryNode
  readonly path: string
  readonly flags: number
  position: number
}

const UMASK = 0o022
/** The access mode bits of open(2)'s flags. */
const ACCESS = constants.O_WRONLY | constants.O_RDWR
const START_MS = Date.UTC(2026, 10, 20)

/** One process's view of a simulated disk. */
export class MemoryDisk implements Disk {
  readonly #volume: Volume
  readonly #options: ProcessOptions
  readonly #openings = new Map<number, Opening>()
  #nextFd = 3
  #calls = 0
  #changes = 0
  #isStopped = false

  constructor(options: MemoryDiskOptions = {}, volume?: Volume) {
    let ticks = 0
    const { image, capacity = Number.POSITIVE_INFINITY, nowMs = () => START_MS + ticks++ } = options
    this.#volume = volume ?? new Volume(image, capacity, nowMs)
    this.#options = options
  }

  /** Starts another process on the same disk. */
  process(options: ProcessOptions = {}): MemoryDisk {
    return new MemoryDisk(options, this.#volume)
  }

  /** Changes since the start or the last `checkpoint`. */
  get journal(): readonly JournalEntry[] {
    return this.#volume.journal
  }

  /** Number of changing or syncing operations of this process so far, including failed ones. */
  get changes(): number {
    return this.#changes
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Bytes in use. */
  get used(): number {
    return this.#volume.used
  }

  /** Resizes the disk. */
  setCapacity(bytes: number): void {
    this.#volume.capacity = bytes
  }

  /** Returns a snapshot of the content as processes see it. */
  image(): DiskImage {
    return this.#volume.image()
  }

  /** Clears the journal as if everything were synced; returns the image that later entries apply to. */
  checkpoint(): DiskImage {
    this.#volume.journal = []
    return this.image()
  }

  /** Stops the process like SIGKILL: closes its descriptors; every further operation throws `ProcessStopped`. */
  stop(): void {
    if (this.#isStopped) return
    for (const fd of [...this.#openings.keys()]) this.#release(fd)
    this.#isStopped = true
  }

  open(path: string, flags: number, mode = 0o666): number {
    const willChange = (flags & (constants.O_CREAT | constants.O_TRUNC)) !== 0
    const fail = this.#begin('open', 'open', { path, isChange: willChange })
    const node = this.#opened(path, flags, mode, fail)
    if (isFile(node)) node.openings++
    const fd = this.#nextFd++
    this.#openings.set(fd, { node, path: resolve('/', path), flags, position: 0 })
    return fd
  }

  #opened(path: string, flags: number, mode: number, fail: Failing): FileNode | DirectoryNode {
    const isCreating = (flags & constants.O_CREAT) !== 0
    const parent = resolve('/', path) === '/' ? undefined : this.#volume.parent(path, fail)
    const found = this.#volume.find(path, fail)
    if (found === undefined) {
      if (!isCreating) throw fail('ENOENT')
      if (this.#volume.room < NODE_BYTES) throw fail('ENOSPC')
      return this.#volume.create(parent!, basename(resolve('/', path)), mode & ~UMASK, false)
    }
    if (isCreating && (flags & constants.O_EXCL) !== 0) throw fail('EEXIST')
    if (!isFile(found)) {
      if (isCreating || isWriting(flags)) throw fail('EISDIR')
      return found
    }
    if ((flags & constants.O_TRUNC) !== 0 && isWriting(flags)) this.#volume.truncate(found, 0)
    return found
  }

  read(fd: number, target: Uint8Array, position: number): number {
    if (target.length === 0) return 0 // Node makes no system call either
    const { opening, fail } = this.#beginAt(fd, 'read', 'read', { isChange: false })
    if ((opening.flags & ACCESS) === constants.O_WRONLY) throw fail('EBADF')
    if (!isFile(opening.node)) throw fail('EISDIR')
    const { bytes, size } = opening.node
    const part = bytes.subarray(Math.min(position, size), Math.min(position + target.length, size))
    target.set(part)
    return part.length
  }

  write(fd: number, bytes: Uint8Array): number {
    const { opening, fail, short } = this.#beginAt(fd, 'write', 'write', { length: bytes.length })
    const { node, flags } = opening
    if (!isWriting(flags) || !isFile(node)) throw fail('EBADF')
    if (bytes.length === 0) return 0
    const offset = (flags & constants.O_APPEND) !== 0 ? node.size : opening.position
    const within = Math.max(0, Math.min(bytes.length, node.size - offset))
    const length = Math.min(bytes.length, within + this.#volume.room, short ?? bytes.length)
    if (length === 0) throw fail('ENOSPC')
    this.#volume.write(node, offset, bytes.subarray(0, length))
    opening.position = offset + length
    return length
  }

  truncate(fd: number, size: number): void {
    const { opening, fail } = this.#beginAt(fd, 'truncate', 'ftruncate')
    if (!isWriting(opening.flags) || !isFile(opening.node)) throw fail('EINVAL')
    if (size - opening.node.size > this.#volume.room) throw fail('ENOSPC')
    this.#volume.truncate(opening.node, size)
  }

  sync(fd: number): void {
    const opening = this.#openings.get(fd)
    try {
      this.#beginAt(fd, 'sync', 'fdatasync')
    } catch (error) {
      // The kernel then considers the pages clean: a later successful sync does not write them again.
      if (opening !== undefined && !(error instanceof ProcessStopped))
        this.#volume.journal.push({ kind: 'syncFailed', ino: opening.node.ino })
      throw error
    }
    this.#volume.journal.push({ kind: 'sync', ino: opening!.node.ino })
  }

  close(fd: number): void {
    this.#beginAt(fd, 'close', 'close', { isChange: false })
    this.#release(fd)
  }

  syncDirectory(path: string): void {
    const fail = this.#begin('syncDirectory', 'open', { path, faultSyscall: 'fsync' })
    const node = this.#volume.find(path, fail)
    if (node === undefined) throw fail('ENOENT')
    if (isFile(node)) this.#volume.journal.push({ kind: 'sync', ino: node.ino })
    else this.#volume.journal.push({ kind: 'syncDirectory', dir: node.ino })
  }

  mkdir(path: string, mode = 0o777): void {
    const fail = this.#begin('mkdir', 'mkdir', { path })
    if (resolve('/', path) === '/') throw fail('EEXIST')
    const parent = this.#volume.parent(path, fail)
    const name = basename(resolve('/', path))
    if (parent.names.has(name)) throw fail('EEXIST')
    if (this.#volume.room < NODE_BYTES) throw fail('ENOSPC')
    this.#volume.create(parent, name, mode & ~UMASK, true)
  }

  rmdir(path: string): void {
    const fail = this.#begin('rmdir', 'rmdir', { path })
    const { parent, name, node } = this.#named(path, fail)
    if (isFile(node)) throw fail('ENOTDIR')
    if (node.names.size > 0) throw fail('ENOTEMPTY')
    this.#volume.unlink(parent, name)
  }

  link(from: string, to: string): void {
    const fail = this.#begin('link', 'link', { path: from, to })
    const { node } = this.#named(from, fail)
    const parent = this.#volume.parent(to, fail)
    const name = basename(resolve('/', to))
    if (parent.names.has(name)) throw fail('EEXIST')
    if (!isFile(node)) throw fail('EPERM')
    this.#volume.link(parent, name, node.ino)
  }

  rename(from: string, to: string): void {
    const fail = this.#begin('rename', 'rename', { path: from, to })
    this.#volume.parent(from, fail)
    const toParent = this.#volume.parent(to, fail)
    const { parent, name, node } = this.#named(from, fail)
    const toName = basename(resolve('/', to))
    const old = this.#volume.find(to, fail)
    if (old === node) return
    if (!isFile(node) && isBelow(to, from)) throw fail('EINVAL')
    if (isBelow(from, to)) throw fail('ENOTEMPTY')
    if (old !== undefined) {
      if (isFile(node) && !isFile(old)) throw fail('EISDIR')
      if (!isFile(node) && isFile(old)) throw fail('ENOTDIR')
      if (!isFile(old) && old.names.size > 0) throw fail('ENOTEMPTY')
    }
    this.#volume.rename(parent, name, toParent, toName)
  }

  unlink(path: string): void {
    const fail = this.#begin('unlink', 'unlink', { path })
    const { parent, name, node } = this.#named(path, fail)
    if (!isFile(node)) throw fail('EISDIR')
    this.#volume.unlink(parent, name)
  }

  /** Lists names in a stable order that is neither alphabetical nor that of their creation. */
  list(directory: string): string[] {
    const fail = this.#begin('list', 'scandir', { path: directory, isChange: false })
    const node = this.#volume.find(directory, fail)
    if (node === undefined) throw fail('ENOENT')
    if (isFile(node)) throw fail('ENOTDIR')
    return [...node.names.keys()].sort((a, b) => hash(a) - hash(b))
  }

  /** Same as stat, because there are no symbolic links. */
  lstat(path: string): DiskStat | undefined {
    return this.stat(path)
  }

  realpath(path: string): string {
    return resolve(path)
  }

  stat(path: string): DiskStat | undefined {
    const fail = this.#begin('stat', 'stat', { path, isChange: false })
    const node = this.#volume.find(path, fail)
    if (node === undefined) return undefined
    const { mtimeMs, uid, gid, ino } = node
    const isDirectory = !isFile(node)
    const mode = node.mode | (isDirectory ? constants.S_IFDIR : constants.S_IFREG)
    return { size: isDirectory ? 4096 : node.size, mtimeMs, mode, uid, gid, ino, isDirectory }
  }

  setTimes(fd: number, _atimeMs: number, mtimeMs: number): void {
    const { opening } = this.#beginAt(fd, 'setTimes', 'futime')
    this.#volume.setAttributes(opening.node, { mtimeMs })
  }

  setMode(fd: number, mode: number): void {
    const { opening } = this.#beginAt(fd, 'setMode', 'fchmod')
    this.#volume.setAttributes(opening.node, { mode: mode & 0o7777 })
  }

  setOwner(fd: number, uid: number, gid: number): void {
    const { opening } = this.#beginAt(fd, 'setOwner', 'fchown')
    this.#volume.setAttributes(opening.node, { uid, gid })
  }

  #named(
    path: string,
    fail: Failing,
  ): { parent: DirectoryNode; name: string; node: FileNode | DirectoryNode } {
    if (resolve('/', path) === '/') throw fail('EBUSY')
    const parent = this.#volume.parent(path, fail)
    const name = basename(resolve('/', path))
    const ino = parent.names.get(name)
    if (ino === undefined) throw fail('ENOENT')
    return { parent, name, node: this.#volume.nodes.get(ino)! }
  }

  #release(fd: number): void {
    const { node } = this.#openings.get(fd)!
    this.#openings.delete(fd)
    if (!isFile(node)) return
    node.openings--
    this.#volume.release(node)
  }

  /** Counts an operation on paths, throws its injected fault, and returns its error factory. */
  #begin(name: keyof Disk, syscall: string, options: BeginOptions & { path: string }): Failing {
    const { path, to, faultSyscall = syscall } = options
    const fault = this.#count(name, options)
    const isOfPath = faultSyscall === syscall
    if (typeof fault === 'string') throw systemError(fault, faultSyscall, ...(isOfPath ? [path, to] : []))
    return (code) => systemError(code, syscall, path, to)
  }

  /** Does the same for operations on a descriptor. */
  #beginAt(
    fd: number,
    name: keyof Disk,
    syscall: string,
    options: BeginOptions = {},
  ): { opening: Opening; fail: Failing; short: number | undefined } {
    const opening = this.#openings.get(fd)
    const fault = this.#count(name, { ...options, path: opening?.path ?? '' })
    const fail: Failing = (code) => systemError(code, syscall)
    if (opening === undefined) throw fail('EBADF')
    if (typeof fault === 'string') throw fail(fault)
    return { opening, fail, short: fault?.short }
  }

  #count(name: keyof Disk, options: BeginOptions & { path: string }): DiskFault | undefined {
    if (this.#isStopped) throw new ProcessStopped()
    const { isChange = true, to, length } = options
    const path = resolve('/', options.path)
    const change = isChange ? this.#changes : undefined
    const call: DiskCall = { name, path, to, length, index: this.#calls, change }
    this.#options.before?.(call)
    if (this.#isStopped) throw new ProcessStopped()
    this.#calls++
    if (isChange) this.#changes++
    return this.#options.fault?.(call)
  }
}

interface BeginOptions {
  readonly to?: string
  readonly length?: number
  readonly isChange?: boolean
  /** System call named in an injected fault, if different. */
  readonly faultSyscall?: string
}

function isWriting(flags: number): boolean {
  return (flags & ACCESS) !== constants.O_RDONLY
}

function isBelow(path: string, directory: string): boolean {
  return `${resolve('/', path)}/`.startsWith(`${resolve('/', directory)}/`)
}

function hash(name: string): number {
  let sum = 0
  for (let i = 0; i < name.length; i++) sum = (Math.imul(sum, 31) + name.charCodeAt(i) * 0x9e3779b1) | 0
  return sum
}
