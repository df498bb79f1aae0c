/**
 * Lets commands started by another command end with it, so that they do not keep changing files beside its next run. The parent
 * identifies itself in the environment.
 */
import { formatIdentity, hasEnded, ownIdentity, parseIdentity } from './process-identity.ts'

const VARIABLE = 'PCP_TS_PARENT'

/** Returns an environment for a command that must not outlive this one, nor this one's parent. */
export function asParent(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const own = formatIdentity(ownIdentity())
  const above = env[VARIABLE]
  return { ...env, [VARIABLE]: above === undefined ? own : `${above},${own}` }
}

/** Returns whether another command started this one. */
export function isForParent(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return env[VARIABLE] !== undefined
}

/** Returns whether the command that started this one has ended. */
export function hasParentEnded(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return (env[VARIABLE] ?? '').split(',').some((text) => {
    const parent = parseIdentity(text)
    return parent !== undefined && hasEnded(parent)
  })
}
