/** The two windows of a comparison, in buckets of the same width. */

/** A window in seconds since the epoch: from `start`, inclusive, to `finish`, exclusive. */
export interface TimeSpan {
  readonly start: number
  readonly finish: number
}

/** Buckets of the span under examination, and most buckets of the window before. */
const SPAN_BUCKETS = 120
const MOST_BEFORE = 480

/** Buckets of both windows: those of the window before first. */
export class ChangeGrid {
  readonly before: TimeSpan
  readonly span: TimeSpan
  /** Seconds of a bucket. */
  readonly width: number
  /** Number of buckets of the window before. */
  readonly beforeCount: number
  /** Number of buckets of both windows. */
  readonly count: number

  constructor(before: TimeSpan, span: TimeSpan) {
    this.before = before
    this.span = span
    const beforeSec = before.finish - before.start
    const spanSec = span.finish - span.start
    // Noise is compared by bucket, so the buckets of both windows have one width.
    this.width = Math.max(spanSec / SPAN_BUCKETS, beforeSec / MOST_BEFORE)
    this.beforeCount = Math.max(1, Math.round(beforeSec / this.width))
    this.count = this.beforeCount + Math.max(1, Math.round(spanSec / this.width))
  }

  /** Returns the bucket of a time; -1 outside both windows. */
  bucketOf(time: number): number {
    const { before, span, width, beforeCount, count } = this
    if (time >= span.start && time <= span.finish)
      return Math.min(count - 1, beforeCount + Math.floor((time - span.start) / width))
    if (time >= before.start && time < before.finish)
      return Math.min(beforeCount - 1, Math.floor((time - before.start) / width))
    return -1
  }

  /** Returns the start of a bucket. */
  timeOf(bucket: number): number {
    const { before, span, width, beforeCount } = this
    return bucket < beforeCount ? before.start + bucket * width : span.start + (bucket - beforeCount) * width
  }
}
