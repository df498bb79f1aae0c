/** Completes the user name and password of a host specification. */
import { PcpError } from '../../model/errors.ts'
import { type HostSpec, hostAttr } from '../../net/host-spec.ts'
import { readSecret, SecretLines } from './secret.ts'
import type { ToolIo } from './tool.ts'

/**
 * Returns a specification with user name and password, prompting for a missing password. If `ask` cannot prompt, returns it unchanged,
 * and connecting reports the missing password. Rejects with EINTR if the user gives none.
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

/** Prompts on the terminal; undefined if standard input is not a terminal. */
export function askPassword(user: string, io: ToolIo): Promise<string | undefined> | undefined {
  if (process.stdin.isTTY !== true) return undefined
  return readSecret(io, `Password of ${user}: `, new SecretLines(io.stdin))
}
