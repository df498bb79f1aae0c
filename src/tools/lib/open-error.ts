/** Errors of opening a source, as commands print them. */
import { PcpError } from '../../model/errors.ts'

/** Returns PCP's text of an error. Limits on file sizes, which PCP does not have, are explained in full. */
export function openProblem(error: unknown): string {
  const { code, text, message } = PcpError.from(error)
  return code === 'EFBIG' || code === 'ENOSPC' ? message : text
}

/** Returns the error with the message most of PCP's commands print. */
export function openError(name: string, error: unknown): PcpError {
  const { code } = PcpError.from(error)
  return new PcpError(code, `Cannot open archive "${name}": ${openProblem(error)}`, { cause: error })
}

/** Failures whose message adds the cause and the remedy to PCP's text. */
const ABOUT_SECURITY =
  /^(?:SASL_\w+|PM_ERR_TLS|PM_ERR_NEEDCLIENTCERT|PM_ERR_PERMISSION|ENOTSUP|EACCES|EINVAL)$/

/** Returns why connecting failed: PCP's text, with our explanation of TLS and login failures. */
export function connectProblem(error: unknown): string {
  const { code, text, message } = PcpError.from(error)
  return ABOUT_SECURITY.test(code) && !message.endsWith(text) ? `${text}: ${message.trimEnd()}` : text
}
