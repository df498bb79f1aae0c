/** The warning about an archive whose last record cannot be found. */
import type { PcpError } from '../../model/errors.ts'
import type { ToolIo } from './tool.ts'

/** Returns the warning. The command continues up to the last good record. */
export function damagedEnd(name: string, { text }: PcpError, { progname }: ToolIo): string {
  return (
    `${progname}: Cannot locate end of archive ${name}: ${text}\n\n` +
    'WARNING: This archive is sufficiently damaged that it may not be possible to\n' +
    '         produce complete information.  Continuing and hoping for the best.\n\n'
  )
}
