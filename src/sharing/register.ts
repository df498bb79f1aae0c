/** One shared text that all recorders of a list read and replace. docs/decisions/recorder-lease.md */
import { PcpError } from '../model/errors.ts'

/** The text at some version. */
export interface Versioned {
  /** 0 before the first text; grows with each replacement. */
  readonly version: number
  readonly text: string
}

/** A text with compare-and-swap. Both operations reject with a PcpError if the store cannot be reached in time. */
export interface Register {
  /** Where it is, for messages. */
  readonly place: string
  /** Reads the text. It may be an old one: `replace` then fails. */
  read(signal: AbortSignal): Promise<Versioned>
  /** Replaces the text if its version is still the given one; returns whether it did. */
  replace(version: number, text: string, signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

/** Longest text in bytes. */
export const MOST_BYTES: number = 64 * 1024

/** Throws EFBIG, naming the place, for a size beyond the limit: such a text is neither written nor read in part. */
export function insistOnSize(bytes: number, place: string): void {
  if (bytes > MOST_BYTES) throw new PcpError('EFBIG', `${place}: is larger than ${MOST_BYTES} bytes`)
}
