/**
 * The file operations on which durable storage is built, as an interface. The production disk is Node's; the tests' disk records all
 * operations and replays every state that a power cut could leave. docs/explanation/reliability.md
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
  /** Opens a file with the `flags` of open(2). Returns a file descriptor. */
  open(path: string, flags: number, mode?: number): number
  /** Reads up to `target.length` bytes from `position`; returns their number, 0 at the end. */
  read(fd: number, target: Uint8Array, position: number): number
  /** Writes at the current position; returns the number of bytes written. */
  write(fd: number, bytes: Uint8Array): number
  truncate(fd: number, size: number): void
  /** Waits until the content is on stable storage: fdatasync(2). */
  sync(fd: number): void
  close(fd: number): void
  /** Waits until a directory's entries are on stable storage: fsync(2) of the directory. */
  syncDirectory(path: string): void
  /** As `sync` without blocking this thread. If missing, callers use `sync`. */
  syncAsync?(fd: number): Promise<void>
  /** As `syncDirectory` without blocking this thread. If missing, callers use `syncDirectory`. */
  syncDirectoryAsync?(path: string): Promise<void>
  mkdir(path: string, mode?: number): void
  rmdir(path: string): void
  link(from: string, to: string): void
  rename(from: string, to: string): void
  unlink(path: string): void
  list(directory: string): string[]
  /** Returns undefined for a missing file. */
  stat(path: string): DiskStat | undefined
  /** As `stat`, without following a symbolic link. */
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
  syncAsync: promisify(fdatasync),
  async syncDirectoryAsync(path) {
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
