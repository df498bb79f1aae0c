/** start, stop, restart, check and destroy: changes daemons and their control lines. pmlogctl(1) */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { disableLine, type EditedText, enableLine, hasInstances, removeLine } from './control-edit.ts'
import { type FarmInstance, instancesIn, readFarm } from './farm-files.ts'
import { daemonOf, migrateTo, startDaemon, stopDaemon } from './launch.ts'
import { isFile } from './policy-files.ts'
import { type FarmRun, installControl } from './run.ts'
import { ambiguousHosts, selectInstances } from './selection.ts'

/** Changes one instance. Resolves to false after reporting a failure. */
type Action = (run: FarmRun, instance: FarmInstance) => Promise<boolean>

/** Actions by command name. */
export const ACTIONS: Readonly<Record<string, Action>> = { start, stop, restart, check, destroy }

/** Applies a command to the instances of a class and hosts. Resolves to the exit status. */
export async function applyToAll(command: string, hosts: readonly string[], run: FarmRun): Promise<number> {
  const { kind, variables, className, error, warn } = run
  if (hosts.length === 0 && className === undefined && command !== 'check') {
    error(`"${command}" command requres hostname(s) and/or a --class`)
    return 1
  }
  if (command === 'destroy' && className !== undefined && className !== 'default' && !run.isForced) {
    const path = run.policyPath ?? join(variables['PCP_SYSCONF_DIR']!, kind.service, 'class.d', className)
    if (!isFile(path)) {
      error(`policy file ${path} not found, class ${className} is not defined so cannot destroy`)
      return 1
    }
  }
  const selected = selectInstances(readFarm(run), { kind, className, hosts }, warn)
  const targets = selected.filter(({ isPrimary, file }) => {
    const isSaid = isPrimary && (hosts.length > 0 || className !== undefined)
    if (isSaid) warn(`${file}: cannot ${command} the primary ${kind.service} from ${kind.command}`)
    return !isPrimary
  })
  if (targets.length === 0) {
    // Without instances there is nothing to check, and no error.
    if (command === 'check' && hosts.length === 0 && className === undefined) return 0
    error(`no matching host(s) to ${command}`)
    return 1
  }
  const unclear = run.isAll || command === 'check' ? [] : ambiguousHosts(targets)
  if (unclear.length > 0) {
    const where = className === undefined ? '' : ` in class ${className}`
    error(
      `host(s) (${unclear.join(' ')}) defined${where} multiple times, don't know which instance to ${command}`,
    )
    return 1
  }
  let status = 0
  for (const target of targets) {
    if (run.io.signal.aborted) return 1
    // Removing lines of the same file changes line numbers.
    const instance = command === 'destroy' ? again(run, target) : target
    if (instance !== undefined && !(await ACTIONS[command]!(run, instance))) status = 1
  }
  if (status !== 0 && command !== 'restart') error(`could not complete ${command} operation`)
  return status
}

/** Finds the same instance at its current line. */
function again(run: FarmRun, { file, rawHost, rawPath }: FarmInstance): FarmInstance | undefined {
  const isSame = (each: FarmInstance): boolean => each.rawHost === rawHost && each.rawPath === rawPath
  return instancesIn(file, readFileSync(file, 'utf8'), { ...run, warn: () => {} }).find(isSame)
}

async function start(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  return (await isThere(run, instance)) || enableAndLaunch(run, instance)
}

/** Is its daemon already running? Reports the result. */
async function isThere(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  const { kind, verbose } = run
  verbose(1, `Looking for ${kind.service} using directory ${instance.path} ...`)
  const daemon = daemonOf(run, instance)
  if (daemon === undefined) {
    verbose(1, `Not found, launching new ${kind.service}`)
    return false
  }
  verbose(1, `${kind.service} PID ${daemon.pid} already running for host ${instance.host}, nothing to do`)
  await migrateTo(run, instance)
  return true
}

async function enableAndLaunch(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  if (instance.isStopped) edit(run, instance, 'Enable', 'enabling', enableLine)
  else run.verbose(1, `${nameOf(run, instance)} already enabled in control file ${instance.file}`)
  return startDaemon(run, instance)
}

async function stop(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  if (wasStopped(run, instance)) return true
  if (!(await stopDaemon(run, instance))) return false
  edit(run, instance, 'Disable', 'disabling', disableLine)
  return true
}

function wasStopped({ kind, warn }: FarmRun, { isStopped, rawHost }: FarmInstance): boolean {
  if (isStopped) warn(`${kind.service} for host ${rawHost} already stopped, nothing to do`)
  return isStopped
}

async function restart(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  const { kind, verbose, error } = run
  const { host, className, path } = instance
  if (wasStopped(run, instance)) return enableAndLaunch(run, instance)
  if (!(await stopDaemon(run, instance))) {
    error(`restart failed to stop host ${host} in class ${className}`)
    return false
  }
  verbose(1, `Looking for ${kind.service} using directory ${path} ...`)
  // A dry run did not stop it.
  if (run.showsOnly && daemonOf(run, instance) !== undefined) return true
  verbose(1, `Not found as expected, launching new ${kind.service}`)
  return startDaemon(run, instance)
}

/** Starts daemons that failed. Unlike the reference it does not start instances that were stopped on purpose. */
async function check(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  if (instance.isStopped) {
    run.verbose(1, `${nameOf(run, instance)} is stopped, nothing to do`)
    return true
  }
  return (await isThere(run, instance)) || enableAndLaunch(run, instance)
}

/** Removes an instance, and the file with its last one. Unlike in the reference, stopped instances count. */
async function destroy(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  const { showsOnly, say, verbose } = run
  const { file, line } = instance
  if (!wasStopped(run, instance) && !(await stopDaemon(run, instance))) return false
  verbose(1, `Remove ${nameOf(run, instance)} in control file ${file}`)
  const { text, difference } = removeLine(readFileSync(file, 'utf8'), line)
  tellDifference(run, instance, 'removing', difference)
  if (hasInstances(text)) {
    installControl(run, file, text)
    return true
  }
  verbose(1, `Remove control file ${file}`)
  if (showsOnly) say(`+ rm ${file}`)
  else rmSync(file)
  return true
}

function edit(
  run: FarmRun,
  instance: FarmInstance,
  what: string,
  whileDoing: string,
  change: (text: string, line: number) => EditedText,
): void {
  const { file, line } = instance
  run.verbose(1, `${what} ${nameOf(run, instance)} in control file ${file}`)
  const { text, difference } = change(readFileSync(file, 'utf8'), line)
  tellDifference(run, instance, whileDoing, difference)
  installControl(run, file, text)
}

function tellDifference(
  { verbose }: FarmRun,
  { file, rawHost, rawPath }: FarmInstance,
  whileDoing: string,
  difference: string,
): void {
  const after = `after ${whileDoing} host ${rawHost} and directory ${rawPath} ...`
  verbose(2, `Diffs for control file ${file} ${after}\n${difference.trimEnd()}`)
}

function nameOf({ kind }: FarmRun, { rawHost, rawPath }: FarmInstance): string {
  return `${kind.service} for host ${rawHost} and directory ${rawPath}`
}
