/** What one host may store: bytes, archives, and bytes a second. docs/reference/pmproxy.md */
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import type { Disk } from '../sys/disk.ts'

/** Limits of each host. */
export interface HostLimits {
  /** Bytes of all its archives. */
  readonly bytes: number
  readonly archives: number
  readonly bytesPerSecond: number
}

/** Seconds of unused rate that a host may catch up with. */
const BURST_SECONDS = 10
/** Other programs remove archives: usage is read again after this time. */
const FRESH_MS = 10 * 60_000
/** Hosts whose usage is remembered. */
const MAX_HOSTS = 10_000

interface Usage {
  bytes: number
  archives: number
  readonly readMs: number
}

interface Bucket {
  bytes: number
  atMs: number
}

/** Counts what hosts use. */
export class HostQuota {
  readonly #disk: Disk
  readonly #directory: string
  readonly #limits: HostLimits
  readonly #nowMs: () => number
  readonly #usage = new Map<string, Usage>()
  readonly #buckets = new Map<string, Bucket>()

  constructor(disk: Disk, directory: string, limits: HostLimits, nowMs: () => number) {
    this.#disk = disk
    this.#directory = directory
    this.#limits = limits
    this.#nowMs = nowMs
  }

  /** Admits a new archive. EDQUOT beyond the limit. */
  admitArchive(host: string): void {
    const usage = this.#usageOf(host)
    if (usage.archives >= this.#limits.archives)
      throw new PcpError('EDQUOT', `${host} has ${usage.archives} archives here, the limit of a host`)
    usage.archives++
  }

  /** Admits bytes. EDQUOT beyond the space of a host, EAGAIN beyond its rate. */
  admitBytes(host: string, count: number): void {
    const usage = this.#usageOf(host)
    if (usage.bytes + count > this.#limits.bytes)
      throw new PcpError('EDQUOT', `${host} has ${usage.bytes} bytes of archives here, the limit of a host`)
    this.#takeRate(host, count)
    usage.bytes += count
  }

  #takeRate(host: string, count: number): void {
    const now = this.#nowMs()
    const { bytesPerSecond } = this.#limits
    const most = bytesPerSecond * BURST_SECONDS
    const bucket = this.#buckets.get(host) ?? { bytes: most, atMs: now }
    bucket.bytes = Math.min(most, bucket.bytes + (bytesPerSecond * (now - bucket.atMs)) / 1000)
    bucket.atMs = now
    // A post that is larger than the burst is admitted when nothing else was sent.
    if (bucket.bytes < Math.min(count, most))
      throw new PcpError('EAGAIN', `${host} sends more than ${bytesPerSecond} bytes a second`)
    bucket.bytes -= count
    remember(this.#buckets, host, bucket)
  }

  #usageOf(host: string): Usage {
    const now = this.#nowMs()
    const known = this.#usage.get(host)
    if (known !== undefined && now - known.readMs < FRESH_MS) return known
    const directory = join(this.#directory, host)
    const usage: Usage = { bytes: 0, archives: 0, readMs: now }
    const names = this.#disk.lstat(directory)?.isDirectory === true ? this.#disk.list(directory) : []
    for (const name of names) {
      usage.bytes += this.#disk.lstat(join(directory, name))?.size ?? 0
      if (/\.meta(?:\.\w+)?$/.test(name)) usage.archives++
    }
    remember(this.#usage, host, usage)
    return usage
  }
}

function remember<T>(map: Map<string, T>, host: string, value: T): void {
  map.delete(host)
  map.set(host, value)
  if (map.size > MAX_HOSTS) map.delete(map.keys().next().value!)
}
