/** Directories that PCP's packages install for the account of its services. On a host without PCP there may be only the account. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { tmpDirOf, type Variables } from '../../../sys/config.ts'
import type { Service } from './instances.ts'
import { makeDirFor, pcpAccount } from './owner.ts'

/** As root, makes the missing directories of a service for its account; other users make their own when they need them. */
export function makeStateDirs(service: Service, variables: Variables): void {
  const account = pcpAccount(variables, () => readFileSync('/etc/passwd', 'utf8'))
  if (account === undefined) return
  for (const dir of [
    join(variables['PCP_LOG_DIR']!, service),
    variables['PCP_ARCHIVE_DIR']!,
    variables['PCP_RUN_DIR']!,
    tmpDirOf(variables),
  ]) {
    try {
      makeDirFor(dir, account)
    } catch (error) {
      throw PcpError.from(error, `Cannot make ${dir}`)
    }
  }
}
