/** `pcp-ts service logs`: the journal, or the log files where there is none. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { onAbort } from '../../../base/on-abort.ts'
import { PcpError } from '../../../model/errors.ts'
import { planDirectories, planSystemDirectories } from '../../../start/directories.ts'
import type { ServiceCall } from './call.ts'

const DEFAULT_LINES = '100'
const FILES = ['pmcd/pmcd.log', 'pmlogger/pmlogger.log', 'pmproxy/pmproxy.log']

/** Prints the service's last messages. */
export async function logs(call: ServiceCall): Promise<number> {
  const { given, systemd } = call
  const lines = given.value('lines') ?? DEFAULT_LINES
  if (!/^\d{1,9}$/.test(lines)) throw new PcpError('PM_ERR_ARG', `--lines ${lines}: must be a number`)
  const follows = given.has('follow')
  if (systemd.isRunning) {
    const args = [
      ...systemd.journalUnit(),
      '--quiet',
      '--no-pager',
      `--lines=${lines}`,
      ...(follows ? ['--follow'] : []),
    ]
    const status = await pass(call, 'journalctl', args)
    if (status === 0) return 0
  }
  const present = logFiles(call).filter((path) => existsSync(path))
  if (present.length === 0)
    throw new PcpError(
      'ENOENT',
      `There is no journal, and none of ${logFiles(call).join(', ')}: the service has not run`,
    )
  return (await pass(call, 'tail', ['-n', lines, ...(follows ? ['-F'] : []), ...present])) ?? 1
}

function logFiles({ given, io, binDir }: ServiceCall): readonly string[] {
  const place =
    given.scope === 'system'
      ? planSystemDirectories({}, binDir, {})
      : planDirectories(undefined, io.env, binDir, {})
  return FILES.map((name) => join(place.variables['PCP_LOG_DIR']!, name))
}

/** Runs a program and passes on its output. Resolves to its status, undefined if there is no such program. */
async function pass(
  { io }: ServiceCall,
  program: string,
  args: readonly string[],
): Promise<number | undefined> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, [...args], { env: io.env, stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = (): void => void child.kill()
  const unlink = onAbort(io.signal, stop)
  const ended = new Promise<number | undefined>((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', (status) => resolve(io.signal.aborted ? 0 : (status ?? 1)))
  })
  try {
    for await (const chunk of child.stdout) {
      io.stdout.writeBytes(chunk as Uint8Array)
      await io.stdout.flush()
    }
    return await ended
  } finally {
    unlink()
  }
}
