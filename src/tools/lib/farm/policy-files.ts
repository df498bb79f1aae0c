/** Finding and reading class policy files. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { DEFAULT_CLASS } from './farm-files.ts'
import { defaultPolicy, type Policy, parsePolicy } from './policy.ts'
import type { FarmRun } from './run.ts'

/** The class that takes hosts which no other class wants. */
export const LAST_RESORT = 'pmfind'

/** Is there such a file? */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** The policy that `create` goes by: of -p, of the class, or of the default class. Throws ENOENT, EINVAL. */
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

/** The policies whose conditions `cond-create` asks, and the one for hosts that none of them wants. */
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

/** The class that instances of a policy belong to: -c, what the file says, or its name. */
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
