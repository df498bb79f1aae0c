/**
 * Commands that work for another command: they end with it, rather than go on changing files beside its next run. The parent names
 * itself in the environment.
 */
import { formatIdentity, hasEnded, ownIdentity, parseIdentity } from './process-identity.ts'

const VARIABLE = 'PCP_TS_PARENT'

/** Returns the environment of a command that must not outlive this one, nor what this one works for. */
export function asParent(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const own = formatIdentity(ownIdentity())
  const above = env[VARIABLE]
  return { ...env, [VARIABLE]: above === undefined ? own : `${above},${own}` }
}

/** Returns whether this command works for another one. */
export function isForParent(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return env[VARIABLE] !== undefined
}

/** Returns whether a command that this one works for has ended. */
export function hasParentEnded(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return (env[VARIABLE] ?? '').split(',').some((text) => {
    const parent = parseIdentity(text)
    return parent !== undefined && hasEnded(parent)
  })
}
