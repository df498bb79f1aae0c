/** Hosts that a program prints, one word each: the discovery programs of pmfind, such as pcp-kube-pods. */
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { polled } from '../polled.ts'
import type { SourceKind } from '../source.ts'
import { parseList } from './list.ts'

const TIMEOUT_MS = 30_000
const MOST_BYTES = 16 * 1024 * 1024

export const command: SourceKind = {
  name: 'command',
  argument: 'PROGRAM',
  refreshMs: 60_000,
  graceMs: 0,
  options: [],
  open(argument, { refreshMs, port }, { cwd, clock, variables, say }) {
    if (argument === '') throw new PcpError('EINVAL', 'a program is missing after "command:"')
    const folder = join(variables['PCP_BINADM_DIR'] ?? '/usr/lib/pcp/bin', 'discover')
    const path = argument.includes('/') ? resolve(cwd, argument) : join(folder, argument)
    const find = async (signal: AbortSignal) => {
      const words = (await outputOf(path, cwd, signal)).split(/\s+/)
      return { hosts: parseList(words.join('\n'), port, say) }
    }
    return polled(find, refreshMs, clock)
  },
}

function outputOf(path: string, cwd: string, signal: AbortSignal): Promise<string> {
  return new Promise((done, fail) => {
    const limits = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES } as const
    execFile(path, [], { cwd, signal, ...limits, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) done(stdout)
      else fail(new PcpError('PM_ERR_GENERIC', `${path}: ${stderr.trim().split('\n')[0] || error.message}`))
    })
  })
}
