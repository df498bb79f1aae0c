/** pmie_check: every rule engine of the control files runs, or is stopped. pmie_check(1) */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type CheckRun, checkOptions, runCheck } from '../lib/admin/check-options.ts'
import { refreshConfig } from '../lib/admin/generated.ts'
import type { Instance } from '../lib/admin/instances.ts'
import { pcpAccount } from '../lib/admin/owner.ts'
import { lockPlace, makePlace } from '../lib/admin/place.ts'
import { findProgram } from '../lib/admin/programs.ts'
import { endProcess, type RunningEngine, realPath, runningEngines } from '../lib/admin/running.ts'
import { startInstance } from '../lib/admin/start-daemon.ts'
import type { Tool } from '../lib/tool.ts'

const OPTIONS = checkOptions('pmie')

/** Starts the rule engines that do not run. Status 1 when something was wrong. */
export const tool: Tool = {
  name: 'pmie_check',
  summary: 'Start the rule engines that should run and do not',
  description: `
For every line of the control files: makes the directory of the log, looks whether a pmie writes that log, and starts one if not.
Rules that are missing, or that pmieconf has made, are made anew before.`,
  examples: [['pmie_check -N -V', 'What would be started:']],
  seeAlso: ['pmie', 'pmieconf', 'pmie_daily', 'pmiectl'],
  options: OPTIONS,
  endsInOrder: true,
  run: (io) => {
    const logs = new Set<string>()
    const target = {
      service: 'pmie' as const,
      subject: 'automated performance reasoning',
      options: OPTIONS,
      check: (instance: Instance, run: CheckRun) => check(instance, run, logs),
    }
    return runCheck(target, io)
  },
}

async function check(instance: Instance, run: CheckRun, logs: Set<string>): Promise<void> {
  const { voice, io, variables } = run
  const { where, host, place: log } = instance
  const dir = dirname(log)
  voice.tell(2, `Check pmie -h ${host} -l ${log} ...`)
  const owner = pcpAccount(variables, () => readFileSync('/etc/passwd', 'utf8'))
  if (!makePlace(dir, { owner, voice, variables })) {
    voice.error(where, `cannot create directory (${dir}) for pmie log file`, host)
    return
  }
  if (voice.showsOnly) voice.show(`cd ${dir}`)
  const path = realPath(log)
  if (logs.has(path)) {
    voice.error(where, `Cannot start more than one pmie instance with the log file "${log}"`, host)
    return
  }
  logs.add(path)
  const lock = await lockPlace(`${log}.lock`, { voice, where, io, variables: instance.variables })
  if (lock === undefined) return
  try {
    const find = (): RunningEngine | undefined =>
      runningEngines(variables).find(({ logPath }) => logPath === path)
    const engine = find()
    if (run.stops) await stop(instance, engine, run)
    else if (engine !== undefined) voice.tell(2, `pmie process ${engine.pid} runs`)
    else await start(instance, { dir, find: () => find()?.pid }, run)
  } finally {
    lock.release()
  }
}

async function stop(
  { host }: Instance,
  engine: RunningEngine | undefined,
  { voice, io }: CheckRun,
): Promise<void> {
  if (engine === undefined) return
  voice.tell(1, `Terminating pmie process ${engine.pid} for host "${host}"`)
  if (voice.showsOnly) voice.show(`kill -TERM ${engine.pid}`)
  else if (!(await endProcess(engine.pid, io.signal)))
    throw new Error(`pmie process ${engine.pid} does not end`)
}

async function start(
  instance: Instance,
  { dir, find }: { dir: string; find: () => number | undefined },
  run: CheckRun,
): Promise<void> {
  const { voice } = run
  const { where, host, isPrimary, place: log, args } = instance
  voice.tell(2, `No current pmie process exists for:\n    host = ${host}\n    log file = ${log}`)
  await refreshConfig(instance, {
    dir,
    voice,
    generator: { program: 'pmieconf', folder: 'pmie', args: (path) => ['-f', path, '-cF'] },
  })
  const socks = instance.usesSocks && findProgram('pmsocks', instance.variables)
  if (instance.usesSocks && socks === undefined)
    voice.warning(where, `no pmsocks available, ${voice.showsOnly ? 'would run' : 'run'} without`)
  const command = ['pmie', '-b', ...(isPrimary ? ['-F', '-P'] : ['-h', host]), '-l', log, ...args]
  const [program, ...rest] = typeof socks === 'string' ? ['pmsocks', ...command] : command
  await startInstance(instance, { program: program!, args: rest, cwd: dir, logPath: log, find }, run)
}
