/** Why something could not be sent. */
import { PcpError } from '../../../model/errors.ts'

const UNKNOWN_HOST: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN'])

/** Returns PM_ERR_GENERIC with the server and the reason, in words. */
export function cannotSend(where: string, error: unknown, timeoutMs: number): PcpError {
  return new PcpError('PM_ERR_GENERIC', `cannot send to ${where}: ${reasonOf(error, timeoutMs)}`, {
    cause: error,
  })
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { cause } = error as Error
  if (isTimeout(error) || isTimeout(cause)) return `no answer within ${timeoutMs / 1000} s`
  const first = cause instanceof Error ? cause : error
  // A name with several addresses: they usually fail for one reason.
  const each = first instanceof AggregateError ? (first.errors[0] as unknown) : first
  if (UNKNOWN_HOST.has((each as { code?: unknown }).code)) return 'unknown host'
  return PcpError.from(each).message
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
