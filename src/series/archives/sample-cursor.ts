/** A position in the samples of an archive, from records or columns files. */
import type { Sample } from '../store.ts'

/** Steps through the samples of an archive, oldest first. */
export interface SampleCursor<H> {
  /** Of the current sample. */
  readonly sec: number
  readonly nsec: number
  /** There is a mark between this sample and the one before, or this is the first one. */
  readonly isAfterGap: boolean
  /** Moves to the next sample; returns whether there is one. */
  next(): boolean
  /** Returns a handle of the current sample, for `read` before or after later steps. */
  hold(): H
  /** Returns a sample without `isAfterGap`. */
  read(handle: H): Sample
}
