/** How much one source may bring: beyond that it is refused, so that no endpoint fills the agent's memory. docs/openmetrics.md */
import { PcpError } from '../../model/errors.ts'

/** Bytes of a document after decompression. */
export const MAX_DOCUMENT: number = 16 * 1024 * 1024
/** Values of one document. */
export const MAX_SAMPLES = 200_000
/** Sources that are asked at the same time. */
export const MAX_PROBES = 32
/** Highest number of a source, and of a metric of a source. */
export const MAX_CLUSTER = 4095
export const MAX_ITEM = 1023
/** Highest number of an instance. Old ones are never forgotten, so names that always change must end somewhere. */
export const MAX_INSTANCE = 99_999

/** The error about a document with more than `maxBytes`. */
export function tooLong(maxBytes: number): PcpError {
  return new PcpError('E2BIG', `The document is longer than ${maxBytes} bytes`)
}
