/** Mail to administrators by the host's mail program. mailx(1) */
import { readFileSync } from 'node:fs'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { findProgram } from './programs.ts'

/** A file to send. */
export interface Mail {
  readonly path: string
  readonly subject: string
  /** Addresses, separated by blanks or commas. */
  readonly to: string
}

/** Returns the arguments of the mail program. */
export function mailArgs({ subject, to }: Mail): string[] {
  return ['-s', subject, ...to.split(/[\s,]+/)]
}

/** Sends a file. Throws ENOENT without a mail program, EIO if it fails. */
export function sendMail(mail: Mail, variables: Variables): void {
  const { path, to } = mail
  const program = findProgram('mail', variables) ?? findProgram('mailx', variables)
  if (program === undefined)
    throw new PcpError('ENOENT', `cannot mail ${path} to ${to}: the program "mail" is not installed`)
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { status } = spawnSync(program, mailArgs(mail), {
    input: withoutEscapes(readFileSync(path, 'latin1')),
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  if (status !== 0) throw new PcpError('EIO', `${program} ended with status ${status}`)
}

/** GNU mail runs `~!COMMAND` at the beginning of a line, even from a pipe, and other accounts write notices and name files in logs. */
function withoutEscapes(text: string): Uint8Array {
  return Buffer.from(text.replaceAll(/^~/gm, ' ~'), 'latin1')
}
