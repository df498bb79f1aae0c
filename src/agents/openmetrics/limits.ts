/** Limits of one source, so that no endpoint fills the agent's memory. docs/reference/agents/openmetrics.md */
import { PcpError } from '../../model/errors.ts'

/** Bytes of a document after decompression. */
export const MAX_DOCUMENT: number = 16 * 1024 * 1024
/** Values of one document. */
export const MAX_SAMPLES = 200_000
/** Sources probed at the same time. */
export const MAX_PROBES = 32
/** Highest cluster of a source, and item of its metrics. */
export const MAX_CLUSTER = 4095
export const MAX_ITEM = 1023
/** Highest instance identifier. Instances are never forgotten, so ever-changing names need a limit. */
export const MAX_INSTANCE = 99_999

/** Returns the error for a document with more than `maxBytes`. */
export function tooLong(maxBytes: number): PcpError {
  return new PcpError('E2BIG', `The document is longer than ${maxBytes} bytes`)
}
