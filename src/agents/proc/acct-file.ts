/** Process accounting: the newest records of ended processes in the kernel's file. acct(5) */

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs'
import { every } from '../../base/every.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { type LoadNative, loadNative, nativeProblem } from '../../sys/native/calls.ts'
import { openNewFile } from '../../sys/new-file.ts'
import { rooted } from '../../sys/proc.ts'
import type { ProcContext } from './context.ts'

/**
 * A record of version 3, of 64 bytes:
 *
 *      0 flags (8 bits)    1 version    2 terminal (16)    4 exit code (32)    8 user    12 group    16 process
 *     20 parent           24 start (seconds since the epoch)                  28 elapsed (float, ticks)
 *     32 user, system time, memory, characters, blocks, minor, major faults, swaps (16 bits each)     48 name[16]
 */
const RECORD_SIZE = 64
const VERSION = 3
/** Set in records written in big-endian order. */
const BIG_ENDIAN_BIT = 0x80
/** Ticks per second in these files, independent of the kernel's. */
const ACCT_HERTZ = 100
/** Most bytes read of a file that grew between requests. */
const MOST = 4 * 1024 * 1024

/** The longest a timer can wait. */

/** An ended process. */
export interface AcctRecord {
  readonly flags: number
  readonly tty: number
  readonly exitcode: number
  readonly uid: number
  readonly gid: number
  readonly pid: number
  readonly ppid: number
  /** Seconds since the epoch. */
  readonly btime: number
  /** Seconds. */
  readonly etime: number
  readonly utime: number
  readonly stime: number
  /** Average, in KB. */
  readonly mem: number
  readonly io: number
  readonly rw: number
  readonly minflt: number
  readonly majflt: number
  readonly swaps: number
  readonly comm: string
}

/** Decodes a 13-bit fraction and a 3-bit exponent to the base of 8. */
function compressed(value: number): number {
  return (value & 0x1fff) * 8 ** (value >> 13)
}

/** Parses one record; undefined for another version. */
export function parseRecord(view: DataView, at: number): AcctRecord | undefined {
  const version = view.getUint8(at + 1)
  if ((version & ~BIG_ENDIAN_BIT) !== VERSION) return undefined
  const little = (version & BIG_ENDIAN_BIT) === 0
  const u32 = (offset: number): number => view.getUint32(at + offset, little)
  const small = (offset: number): number => compressed(view.getUint16(at + offset, little))
  const name = new Uint8Array(view.buffer, view.byteOffset + at + 48, 16)
  return {
    flags: view.getUint8(at),
    tty: view.getUint16(at + 2, little),
    exitcode: u32(4),
    uid: u32(8),
    gid: u32(12),
    pid: u32(16),
    ppid: u32(20),
    btime: u32(24),
    etime: view.getFloat32(at + 28, little) / ACCT_HERTZ,
    utime: small(32) / ACCT_HERTZ,
    stime: small(34) / ACCT_HERTZ,
    mem: small(36),
    io: small(38),
    rw: small(40),
    minflt: small(42),
    majflt: small(44),
    swaps: small(46),
    comm: decodeText(name).split('\0', 1)[0]!,
  }
}

/** Settings that root may store, in seconds and bytes. */
export interface AcctSettings {
  openRetryInterval: number
  checkAcctInterval: number
  fileSizeThreshold: number
  lifetime: number
  refresh: number
}

/** Reads new records and keeps them for the configured lifetime. */
export class AcctFile {
  readonly settings: AcctSettings = {
    openRetryInterval: 60,
    checkAcctInterval: 600,
    fileSizeThreshold: 10_485_760,
    lifetime: 60,
    refresh: 600,
  }
  readonly #ctx: ProcContext
  readonly #load: LoadNative
  readonly #records = new Map<number, AcctRecord>()
  #fd = -1
  #path = ''
  #inode = 0
  #offset = 0
  #triedAt = Number.NEGATIVE_INFINITY
  #checkedAt = Number.NEGATIVE_INFINITY
  /** Path of the file if the kernel writes it at this agent's request. */
  #private: string | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: ProcContext, load: LoadNative = loadNative) {
    this.#ctx = ctx
    this.#load = load
  }

  /** Returns processes in the file that ended within the lifetime of records, by PID. */
  update(): ReadonlyMap<number, AcctRecord> {
    const now = this.#ctx.env.clock() / 1000
    this.#checkFile(now)
    this.#open(now)
    if (this.#fd >= 0) this.#readNew()
    for (const [pid, { btime, etime }] of this.#records)
      if (btime + etime < now - this.settings.lifetime - 1) this.#records.delete(pid)
    return this.#records
  }

  /** Whether the kernel writes a file at this agent's request. */
  get isEnabled(): boolean {
    return this.#private !== undefined
  }

  /** Switches a private accounting file on or off. PM_ERR_NYI without the package koffi, or the kernel's error. */
  setEnabled(isOn: boolean): void {
    if (isOn === this.isEnabled) return
    const calls = this.#load()
    if (calls === undefined)
      throw new PcpError('PM_ERR_NYI', `Accounting cannot be switched on or off: ${nativeProblem()}`)
    const acct = calls.bind('int acct(const char *path)')
    const path = this.#private ?? this.#privatePath()
    if (isOn) closeSync(openNewFile(path, 0o400))
    if (acct(isOn ? path : null) !== 0)
      throw new PcpError(
        'PM_ERR_PERMISSION',
        `The kernel refuses to account to ${path}: errno ${calls.errno()}`,
      )
    this.#forget()
    this.#triedAt = Number.NEGATIVE_INFINITY
    this.#private = isOn ? path : undefined
    if (!isOn) unlinkSync(path)
    this.restartTimer()
  }

  /** Reads the private file periodically, even without requests, to limit its size. */
  restartTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    if (this.#private === undefined) return
    this.#timer = every(
      this.settings.refresh * 1000,
      () => void this.update(),
      () => undefined, // the next request gets the error
    )
    this.#timer.unref()
  }

  /** Switches off accounting if this agent switched it on. */
  close(): void {
    if (this.isEnabled) this.setEnabled(false)
    this.#forget()
  }

  #privatePath(): string {
    const dir = this.#ctx.env.env['PCP_VAR_DIR']
    if (dir === undefined)
      throw new PcpError('PM_ERR_NYI', 'PCP_VAR_DIR is not set, so there is no place for the file')
    return rooted(this.#ctx.root, `${dir}/pmcd/pacct`)
  }

  #candidates(): readonly string[] {
    if (this.#private !== undefined) return [this.#private]
    const { env, root } = this.#ctx
    const given = env.env['PCP_PACCT_SYSTEM_PATH']
    const usual = ['/var/log/account/pacct', '/var/account/pacct'].map((path) => rooted(root, path))
    return given === undefined ? usual : [given, ...usual]
  }

  /** Reopens a file that was moved aside and is no longer written. */
  #checkFile(now: number): void {
    if (this.#fd < 0 || now - this.#checkedAt < this.settings.checkAcctInterval) return
    this.#checkedAt = now
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (found?.ino === this.#inode) return
    this.#forget()
    this.#triedAt = Number.NEGATIVE_INFINITY
  }

  #open(now: number): void {
    if (this.#fd >= 0 || now - this.#triedAt < this.settings.openRetryInterval) return
    this.#triedAt = now
    for (const path of this.#candidates()) {
      try {
        // The private file is truncated when large, but never a file that a link points to.
        const flags = path === this.#private ? constants.O_RDWR | constants.O_NOFOLLOW : constants.O_RDONLY
        this.#fd = openSync(path, flags)
      } catch {
        continue // missing or not readable: try the next path, and retry later
      }
      const { ino, size } = fstatSync(this.#fd)
      this.#path = path
      this.#inode = ino
      this.#checkedAt = now
      this.#offset = startOf(size)
      return
    }
  }

  #readNew(): void {
    let stat: Stats
    try {
      stat = fstatSync(this.#fd)
    } catch {
      this.#forget()
      return
    }
    if (stat.size < this.#offset) this.#offset = 0 // cut
    this.#offset = Math.max(this.#offset, startOf(stat.size))
    const room = Math.floor((stat.size - this.#offset) / RECORD_SIZE) * RECORD_SIZE
    if (room > 0) {
      const bytes = new Uint8Array(room)
      const got = readSync(this.#fd, bytes, 0, room, this.#offset)
      const view = new DataView(bytes.buffer)
      for (let at = 0; at + RECORD_SIZE <= got; at += RECORD_SIZE) {
        const record = parseRecord(view, at)
        if (record !== undefined) this.#records.set(record.pid, record)
      }
      this.#offset += got - (got % RECORD_SIZE)
    }
    if (this.#private !== undefined && stat.size > this.settings.fileSizeThreshold) {
      ftruncateSync(this.#fd, 0)
      this.#offset = 0
    }
  }

  #forget(): void {
    if (this.#fd >= 0) closeSync(this.#fd)
    this.#fd = -1
    this.#records.clear()
  }
}

/** Start offset in a file of that size: a multiple of the record size. */
function startOf(size: number): number {
  const whole = size - (size % RECORD_SIZE)
  return Math.max(0, whole - MOST)
}
