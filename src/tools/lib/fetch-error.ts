/** Errors of a fetch, as commands print them. */
import { PcpError } from '../../model/errors.ts'
import type { ToolIo } from './tool.ts'

/**
 * Returns an error with PCP's text of a failed fetch, after `call` if given. On a terminal it also shows where an archive is
 * damaged; scripts expect only the text.
 */
export function fetchError(error: unknown, { stderr }: Pick<ToolIo, 'stderr'>, call?: string): PcpError {
  const { code, text, message } = PcpError.from(error)
  const place = stderr.isTerminal && message !== text ? ` (${message})` : ''
  return new PcpError(code, `${call === undefined ? '' : `${call}: `}${text}${place}`, { cause: error })
}
