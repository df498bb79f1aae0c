/** Why an archive cannot be opened, as commands print it. */
import { PcpError } from '../../model/errors.ts'

/** Returns the text PCP's commands print; problems PCP has no words for are explained: files beyond the limits. */
export function openProblem(error: unknown): string {
  const { code, text, message } = PcpError.from(error)
  return code === 'EFBIG' || code === 'ENOSPC' ? message : text
}

/** Returns the error with the message most of PCP's commands print. */
export function openError(name: string, error: unknown): PcpError {
  const { code } = PcpError.from(error)
  return new PcpError(code, `Cannot open archive "${name}": ${openProblem(error)}`, { cause: error })
}
