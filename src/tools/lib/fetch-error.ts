/** Why a fetch fails, as commands print it. */
import { PcpError } from '../../model/errors.ts'
import type { ToolIo } from './tool.ts'

/**
 * Returns the error of a fetch with the text PCP's commands print, and `call` before it if given. A terminal is shown where an archive is
 * damaged, too; scripts know the text alone.
 */
export function fetchError(error: unknown, { stderr }: Pick<ToolIo, 'stderr'>, call?: string): PcpError {
  const { code, text, message } = PcpError.from(error)
  const place = stderr.isTerminal && message !== text ? ` (${message})` : ''
  return new PcpError(code, `${call === undefined ? '' : `${call}: `}${text}${place}`, { cause: error })
}
