/** Finds and reads class policy files. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { DEFAULT_CLASS } from './farm-files.ts'
import { defaultPolicy, type Policy, parsePolicy } from './policy.ts'
import type { FarmRun } from './run.ts'

/** The class for hosts that match no other class. */
export const LAST_RESORT = 'pmfind'

/** Is there a regular file at this path? */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** Returns the policy for `create`: that of -p, of the class, or of the default class. Throws ENOENT, EINVAL. */
export function policyToCreate(run: FarmRun): Policy {
  const { className = DEFAULT_CLASS, policyPath, kind } = run
  const path = policyPath ?? join(classDir(run), className)
  if (isFile(path)) return readPolicy(path)
  if (policyPath === undefined && className === DEFAULT_CLASS) return defaultPolicy(kind.usualLine)
  throw new PcpError(
    'ENOENT',
    `policy file ${path} not found, class ${className} is not defined so cannot create`,
  )
}

/** Returns the policies that `cond-create` tries, and the one for hosts that match none of them. */
export function policiesToTry(run: FarmRun): { policies: Policy[]; lastResort: Policy | undefined } {
  const { className, policyPath } = run
  const isOne = policyPath !== undefined || (className !== undefined && className !== DEFAULT_CLASS)
  if (isOne) return { policies: [policyToCreate(run)], lastResort: undefined }
  const dir = classDir(run)
  const names = namesIn(dir).filter((name) => !/~$|^\.|\.(?:rpm\w+|dpkg-\w+)$/.test(name))
  const policies = names.filter((name) => name !== LAST_RESORT).map((name) => readPolicy(join(dir, name)))
  const lastResort = names.includes(LAST_RESORT) ? readPolicy(join(dir, LAST_RESORT)) : undefined
  return { policies, lastResort }
}

/** Returns the class of a policy's instances: -c, the file's [class], or its name. */
export function classOf(policy: Policy, { className }: Pick<FarmRun, 'className'>): string {
  return className ?? policy.className ?? (policy.path === '' ? DEFAULT_CLASS : basename(policy.path))
}

function readPolicy(path: string): Policy {
  return parsePolicy(readFileSync(path, 'utf8'), path)
}

function classDir({ variables, kind }: FarmRun): string {
  return join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', kind.service, 'class.d')
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .sort()
      .filter((name) => isFile(join(dir, name)))
  } catch {
    return [] // no classes but the default one
  }
}
