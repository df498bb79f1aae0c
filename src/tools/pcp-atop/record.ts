/** Records the metrics of atop to a folder with an archive and its folio. pcp-atop(1) -w; mkaf(1) */

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { onAbort } from '../../base/on-abort.ts'
import { fromMillis } from '../../base/timestamp.ts'
import { makeArchiveDir } from '../../sys/archive-access.ts'
import { loadConfig } from '../../sys/config.ts'
import { ctime } from '../../time/stamp.ts'
import { ownProgram } from '../lib/own-program.ts'
import type { ToolIo } from '../lib/tool.ts'
import { processTimeZone } from '../lib/zone.ts'
import { EXIT_METRICS, GPU_TASK_METRICS, NET_TASK_METRICS, SYSTEM_METRICS, TASK_ITEMS } from './metrics.ts'
import type { AtopOptions } from './options.ts'

const DEFAULT_INTERVAL_SEC = 10

/** Records until the number of samples, midnight or a signal; resolves to pmlogger's exit status. */
export async function record(options: AtopOptions, folder: string, io: ToolIo): Promise<number> {
  const path = resolve(io.cwd, folder)
  const name = basename(path)
  const interval = options.intervalSec ?? DEFAULT_INTERVAL_SEC
  makeArchiveDir(path, loadConfig(io.env).variables)
  const config = join(path, `${name}.config`)
  writeFileSync(config, recorderConfig(options, interval))
  writeFileSync(join(path, `${name}.folio`), folioText(name, io))
  const limit = options.endsAtMidnight
    ? ['-T', '@ 23:59:59']
    : options.samples === undefined
      ? []
      : ['-s', String(options.samples)]
  const args = [
    '-c',
    config,
    '-l',
    join(path, `${name}.log`),
    '-t',
    `${interval}sec`,
    ...limit,
    join(path, name),
  ]
  const host = io.env['PCP_HOST']
  return runRecorder(host === undefined ? args : ['-h', host, ...args], io)
}

/** Returns a pmlogger configuration for the metrics; pmlogger leaves out unknown ones. */
export function recorderConfig({ group }: Pick<AtopOptions, 'group'>, intervalSec: number): string {
  const names = [
    // Read by other programs that replay the archive.
    'hinv.ndisk',
    'hinv.ninterface',
    ...SYSTEM_METRICS.map((metric) => (typeof metric === 'string' ? metric : metric.name)),
    ...TASK_ITEMS.map((item) => `${group}.${item}`),
    ...NET_TASK_METRICS,
    ...GPU_TASK_METRICS,
    ...EXIT_METRICS,
  ]
  return `log mandatory on ${intervalSec} sec {\n${names.map((name) => `  ${name}\n`).join('')}}\n`
}

function folioText(name: string, io: ToolIo): string {
  const host = hostname()
  const date = ctime(fromMillis(io.now()).sec, processTimeZone(io))
  return `PCPFolio\nVersion: 1\nCreated: on ${host} at ${date}\nCreator: pcp-atop\nArchive: ${host} ${name}\n`
}

/** Runs this package's pmlogger. */
async function runRecorder(args: readonly string[], io: ToolIo): Promise<number> {
  const recorder = ownProgram('pmlogger')
  const child = spawn(process.execPath, [recorder, ...args], {
    stdio: 'ignore',
    cwd: io.cwd,
    // The host is in the arguments; pmlogger refuses two.
    env: { ...io.env, PCP_HOST: undefined },
  })
  const stop = (): void => {
    child.kill('SIGTERM')
  }
  const unlink = onAbort(io.signal, stop)
  try {
    return await new Promise((done, fail) => {
      child.once('error', fail)
      child.once('exit', (code) => done(io.signal.aborted ? 0 : (code ?? 1)))
    })
  } finally {
    unlink()
  }
}
