/**
 * The file operations that durable storage is made of, as one interface: the production disk is Node's, the tests' records every
 * operation and replays what a power cut could have left. docs/reliability.md
 */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Attributes of a file. */
export interface DiskStat {
  readonly size: number
  readonly mtimeMs: number
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly ino: number
  readonly isDirectory: boolean
}

/** Synchronous file operations. Each throws Node's error with an errno name as its `code`. */
export interface Disk {
  /** Opens a file; `flags` are those of open(2). Returns a descriptor. */
  open(path: string, flags: number, mode?: number): number
  /** Reads up to `target.length` bytes from `position`; returns how many, 0 at the end. */
  read(fd: number, target: Uint8Array, position: number): number
  /** Writes at the current place; returns how many bytes were written. */
  write(fd: number, bytes: Uint8Array): number
  truncate(fd: number, size: number): void
  /** Waits until the content is on stable storage: fdatasync(2). */
  sync(fd: number): void
  close(fd: number): void
  /** Waits until the names in a directory are on stable storage: fsync(2) of the directory. */
  syncDirectory(path: string): void
  /** Does what `sync` does without blocking this thread. Callers use `sync` where it is missing. */
  syncLater?(fd: number): Promise<void>
  /** Does what `syncDirectory` does without blocking this thread. Callers use `syncDirectory` where it is missing. */
  syncDirectoryLater?(path: string): Promise<void>
  mkdir(path: string, mode?: number): void
  rmdir(path: string): void
  link(from: string, to: string): void
  rename(from: string, to: string): void
  unlink(path: string): void
  list(directory: string): string[]
  /** Undefined for a missing file. */
  stat(path: string): DiskStat | undefined
  /** As `stat`, of a symbolic link itself. */
  lstat(path: string): DiskStat | undefined
  /** Resolves symbolic links. */
  realpath(path: string): string
  /** Times in milliseconds since the epoch. */
  setTimes(fd: number, atimeMs: number, mtimeMs: number): void
  setMode(fd: number, mode: number): void
  setOwner(fd: number, uid: number, gid: number): void
}

/** The disk of this machine. */
export const nodeDisk: Disk = {
  open: openSync,
  read: (fd, target, position) => readSync(fd, target, 0, target.length, position),
  write: (fd, bytes) => writeSync(fd, bytes),
  truncate: ftruncateSync,
  sync: fdatasyncSync,
  close: closeSync,
  syncDirectory(path) {
    const fd = openSync(path, 'r')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  },
  mkdir: (path, mode) => void mkdirSync(path, { mode }),
  rmdir: rmdirSync,
  link: linkSync,
  rename: renameSync,
  unlink: unlinkSync,
  list: (directory) => readdirSync(directory),
  stat: (path) => attributes(statSync(path, { throwIfNoEntry: false })),
  lstat: (path) => attributes(lstatSync(path, { throwIfNoEntry: false })),
  realpath: (path) => realpathSync(path),
  syncLater: promisify(fdatasync),
  async syncDirectoryLater(path) {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  setTimes: (fd, atimeMs, mtimeMs) => futimesSync(fd, atimeMs / 1000, mtimeMs / 1000),
  setMode: fchmodSync,
  setOwner: fchownSync,
}

function attributes(stats: Stats | undefined): DiskStat | undefined {
  if (stats === undefined) return undefined
  const { size, mtimeMs, mode, uid, gid, ino } = stats
  return { size, mtimeMs, mode, uid, gid, ino, isDirectory: stats.isDirectory() }
}
