/**
 * Sends batches to a receiver of Remote Write, with retries. docs/how-to/send-to-prometheus.md
 *
 *     2xx                      written; 2.0 without its headers: the receiver reads only 1.0, which is used from then on
 *     415, or 400 and 406
 *       before any success     the receiver reads only 1.0
 *     429, 5xx, no answer      retried after Retry-After and a growing delay, without end: the archive keeps the data
 *     401, 403, 404            retried too, as such an error concerns all data: the account and the path can be repaired
 *     413, other 4xx           divided, as one bad series makes some receivers refuse all others; samples refused alone are
 *                              counted and skipped
 *
 * A request may have been written although its answer never arrived. Repeated, it is refused as too old, without an error.
 */
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { Backoff } from '../base/backoff.ts'
import { VERSION } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { retryAfterMs } from '../net/http-client.ts'
import type { SeriesSamples } from './batch.ts'
import { encodeV1, encodeV2, type ProtocolVersion, protocolHeaders } from './encode.ts'
import type { PostAnswer, PostClient } from './http.ts'
import { MessageWriter } from './message-writer.ts'
import type { Family } from './series.ts'

/** Options of a sender. */
export interface SenderOptions {
  /** `auto`: 2.0, unless the receiver reads only 1.0. */
  readonly protocol: ProtocolVersion | 'auto'
  /** Returns the headers of the account, for each attempt: tokens expire and are replaced. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Milliseconds to wait after failures in a row; the last one repeats. */
  readonly delaysMs: readonly number[]
  /** Waits; rejects when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  /** Wall clock in milliseconds, for Retry-After with a date. */
  readonly now: () => number
  /** Reports a problem, or its end, in one line. */
  readonly report: (line: string) => void
}

/** Counts since the start. */
export interface SenderCounts {
  /** Samples that were acknowledged, with staleness markers. */
  samples: number
  requests: number
  /** Bytes of acknowledged requests, compressed. */
  bytes: number
  /** Attempts that failed and were repeated. */
  retries: number
  /** Samples that the receiver refused as bad. */
  refused: number
  /** Samples that were refused when they were sent again. */
  repeated: number
  /** Samples of acknowledged requests that the receiver did not write. */
  unwritten: number
}

/** Samples on their way. */
interface Delivery {
  readonly entries: readonly SeriesSamples[]
  readonly isRepeat: boolean
  /** How often a refused request may still be divided. */
  readonly divisions: { left: number }
}

/** Divisions of one request: enough to find some bad series among thousands. */
const MOST_DIVISIONS = 32
/** Longest Retry-After that is obeyed. */
const MOST_RETRY_AFTER_MS = 10 * 60_000
/** Most families whose metadata is remembered as sent (1.0). */
const MOST_FAMILIES = 100_000
const WRITTEN = 'x-prometheus-remote-write-samples-written'
/** Errors of an account, an address or a proxy, which concern all data. */
const REPAIRABLE: ReadonlySet<number> = new Set([401, 403, 404, 407, 408, 425, 429])
/** Answers of receivers that cannot read 2.0. */
const UNREADABLE: ReadonlySet<number> = new Set([400, 406, 415])

/** Sends to one receiver. Calls may overlap; the caller keeps the order of each series. */
export class Sender {
  readonly counts: SenderCounts = {
    samples: 0,
    requests: 0,
    bytes: 0,
    retries: 0,
    refused: 0,
    repeated: 0,
    unwritten: 0,
  }
  readonly #client: PostClient
  readonly #options: SenderOptions
  readonly #described = new Set<string>()
  #version: ProtocolVersion
  /** The receiver has answered as one of 2.0 does. */
  #isProven = false
  /** The problem reported last; '' after a success. */
  #problem = ''
  /** The reason for a refusal that was reported last. */
  #refusal = ''

  constructor(client: PostClient, options: SenderOptions) {
    this.#client = client
    this.#options = options
    this.#version = options.protocol === 'auto' ? 2 : options.protocol
  }

  /** Version in use. */
  get version(): ProtocolVersion {
    return this.#version
  }

  /**
   * Resolves when the receiver has written or refused the samples; `isRepeat`: they may have been written before. Rejects with the
   * signal's reason.
   */
  async send(entries: readonly SeriesSamples[], signal: AbortSignal, isRepeat = false): Promise<void> {
    await this.#deliver({ entries, isRepeat, divisions: { left: MOST_DIVISIONS } }, signal)
  }

  async #deliver({ entries, isRepeat, divisions }: Delivery, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff({ delaysMs: this.#options.delaysMs })
    let mayBeWritten = isRepeat
    for (;;) {
      signal.throwIfAborted()
      const version = this.#version
      const families = version === 1 ? this.#undescribed(entries) : []
      const body = encoded(version, entries, families)
      const answer = await this.#attempt(version, body, signal)
      if (answer instanceof PcpError) {
        if (answer.code !== 'ECONNREFUSED') mayBeWritten = true
        await this.#pause(answer.message, backoff.failed(performance.now()), signal)
        continue
      }
      const { status, text } = answer
      if (this.#isUnreadable(version, answer)) {
        // Another request may have found out already.
        if (this.#version === 2)
          this.#options.report(`${this.#client.url.href}: the receiver reads only Remote Write 1.0`)
        this.#version = 1
        continue
      }
      if (status >= 200 && status < 300) {
        this.#accept(countOf(entries), body.length, answer)
        for (const { name } of families) this.#described.add(name)
        return
      }
      const why = `${this.#client.url.href}: ${status} ${text}`.trim()
      if (status >= 500 || REPAIRABLE.has(status)) {
        if (status >= 500) mayBeWritten = true
        const asked = retryAfterMs(answer.header('retry-after'), this.#options.now()) ?? 0
        await this.#pause(
          why,
          Math.max(Math.min(asked, MOST_RETRY_AFTER_MS), backoff.failed(performance.now())),
          signal,
        )
        continue
      }
      const written = Number(answer.header(WRITTEN) ?? 0)
      if (written > 0 || entries.length < 2 || divisions.left === 0) {
        this.#refuse(countOf(entries), written, mayBeWritten ? undefined : why)
        return
      }
      divisions.left--
      const half = entries.length >> 1
      for (const part of [entries.slice(0, half), entries.slice(half)])
        await this.#deliver({ entries: part, isRepeat: mayBeWritten, divisions }, signal)
      return
    }
  }

  /** Counts refused samples, and reports the reason unless they may have been written before. */
  #refuse(samples: number, written: number, why: string | undefined): void {
    const { counts } = this
    counts.samples += written
    const refused = samples - written
    if (why === undefined) counts.repeated += refused
    else {
      counts.refused += refused
      if (why !== this.#refusal) this.#options.report(`${why}: such samples are skipped`)
      this.#refusal = why
    }
  }

  async #attempt(
    version: ProtocolVersion,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<PostAnswer | PcpError> {
    const { headers, timeoutMs } = this.#options
    try {
      return await this.#client.post({
        body,
        headers: {
          ...headers(),
          'User-Agent': `pcp-ts/${VERSION}`,
          'Content-Encoding': 'snappy',
          ...protocolHeaders(version),
        },
        timeoutMs,
        signal,
      })
    } catch (error) {
      signal.throwIfAborted()
      const { name } = error as Error
      if (name === 'TimeoutError')
        return new PcpError(
          'PM_ERR_TIMEOUT',
          `${this.#client.url.href}: no answer within ${timeoutMs / 1000} s`,
        )
      return PcpError.from(error, this.#client.url.href)
    }
  }

  /** Returns whether the receiver did not read a request because it is of 2.0. */
  #isUnreadable(version: ProtocolVersion, { status, header }: PostAnswer): boolean {
    if (version === 1 || this.#options.protocol !== 'auto') return false
    if (status === 415) return true
    if (header(WRITTEN) !== undefined) this.#isProven = true
    // A receiver of 1.0 finds no series in a request of 2.0, and is content.
    return !this.#isProven && (UNREADABLE.has(status) || (status >= 200 && status < 300))
  }

  #accept(samples: number, bytes: number, { header }: PostAnswer): void {
    const { counts } = this
    counts.samples += samples
    counts.requests++
    counts.bytes += bytes
    const written = Number(header(WRITTEN) ?? samples)
    if (written < samples) {
      counts.unwritten += samples - written
      this.#options.report(`${this.#client.url.href}: wrote only ${written} of ${samples} samples`)
    }
    if (this.#problem === '') return
    this.#problem = ''
    this.#options.report(`${this.#client.url.href}: sending again`)
  }

  async #pause(why: string, ms: number, signal: AbortSignal): Promise<void> {
    this.counts.retries++
    if (why !== this.#problem) this.#options.report(`${why}, retrying`)
    this.#problem = why
    await this.#options.wait(ms, signal)
  }

  /** Returns the metrics whose metadata has not been acknowledged. */
  #undescribed(entries: readonly SeriesSamples[]): readonly Family[] {
    if (this.#described.size > MOST_FAMILIES) this.#described.clear()
    const families = new Map<string, Family>()
    for (const { series } of entries)
      if (!this.#described.has(series.family.name)) families.set(series.family.name, series.family)
    return [...families.values()]
  }
}

/** Shared by all requests: encoding never waits. */
const writer = new MessageWriter()

function encoded(
  version: ProtocolVersion,
  entries: readonly SeriesSamples[],
  families: readonly Family[],
): Uint8Array {
  writer.clear()
  if (version === 2) encodeV2(writer, entries)
  else encodeV1(writer, entries, families)
  return snappyCompress(writer.bytes)
}

function countOf(entries: readonly SeriesSamples[]): number {
  return entries.reduce((sum, { times }) => sum + times.length, 0)
}
