/** Who a command says it is, when the host's specification says it in part. */
import { PcpError } from '../../model/errors.ts'
import { type HostSpec, hostAttr } from '../../net/host-spec.ts'
import { readSecret, SecretLines } from './secret.ts'
import type { ToolIo } from './tool.ts'

/**
 * A specification that names a user and no password, with the password that `ask` gives for that user. Where nobody can
 * be asked it stays as it is, and connecting says what is missing. EINTR when the question is not answered.
 */
export async function completeLogin(
  spec: HostSpec,
  ask: (user: string) => Promise<string | undefined> | undefined,
): Promise<HostSpec> {
  const user = hostAttr(spec, 'username')
  if (!user || hostAttr(spec, 'password') !== undefined) return spec
  const answer = ask(user)
  if (answer === undefined) return spec
  const value = await answer
  if (value === undefined) throw new PcpError('EINTR', `No password was given for ${user}`)
  return { ...spec, attrs: [...spec.attrs, { name: 'password', value }] }
}

/** Asks on the terminal; undefined where standard input is none. */
export function askPassword(user: string, io: ToolIo): Promise<string | undefined> | undefined {
  if (process.stdin.isTTY !== true) return undefined
  return readSecret(io, `Password of ${user}: `, new SecretLines(io.stdin))
}
