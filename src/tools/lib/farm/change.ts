/** start, stop, restart, check and destroy: daemons and the lines that ask for them. pmlogctl(1) */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { disableLine, type Edit, enableLine, hasInstances, removeLine } from './control-edit.ts'
import { type FarmInstance, instancesIn, readFarm } from './farm-files.ts'
import { daemonOf, launch, migrateTo, stopDaemon } from './launch.ts'
import { isFile } from './policy-files.ts'
import { type FarmRun, installControl } from './run.ts'
import { ambiguousHosts, selectInstances } from './selection.ts'

/** What is done to every instance; false when it failed, which has been told. */
type Action = (run: FarmRun, instance: FarmInstance) => Promise<boolean>

/** The actions by the name of the command. */
export const ACTIONS: Readonly<Record<string, Action>> = { start, stop, restart, check, destroy }

/** Applies a command to the instances of a class and of hosts. Resolves to the exit status. */
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
    // Nothing to look after is nothing wrong.
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
    // Lines move when others of the same file go.
    const instance = command === 'destroy' ? again(run, target) : target
    if (instance !== undefined && !(await ACTIONS[command]!(run, instance))) status = 1
  }
  if (status !== 0 && command !== 'restart') error(`could not complete ${command} operation`)
  return status
}

/** The same instance, with the line that it is in now. */
function again(run: FarmRun, { file, writtenHost, writtenPlace }: FarmInstance): FarmInstance | undefined {
  const isSame = (each: FarmInstance): boolean =>
    each.writtenHost === writtenHost && each.writtenPlace === writtenPlace
  return instancesIn(file, readFileSync(file, 'utf8'), { ...run, warn: () => {} }).find(isSame)
}

async function start(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  return (await isThere(run, instance)) || enableAndLaunch(run, instance)
}

/** Does it run already? Tells so. */
async function isThere(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  const { kind, tell } = run
  tell(1, `Looking for ${kind.service} using directory ${instance.place} ...`)
  const daemon = daemonOf(run, instance)
  if (daemon === undefined) {
    tell(1, `Not found, launching new ${kind.service}`)
    return false
  }
  tell(1, `${kind.service} PID ${daemon.pid} already running for host ${instance.host}, nothing to do`)
  await migrateTo(run, instance)
  return true
}

async function enableAndLaunch(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  if (instance.isStopped) edit(run, instance, 'Enable', 'enabling', enableLine)
  else run.tell(1, `${nameOf(run, instance)} already enabled in control file ${instance.file}`)
  return launch(run, instance)
}

async function stop(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  if (wasStopped(run, instance)) return true
  if (!(await stopDaemon(run, instance))) return false
  edit(run, instance, 'Disable', 'disabling', disableLine)
  return true
}

function wasStopped({ kind, warn }: FarmRun, { isStopped, writtenHost }: FarmInstance): boolean {
  if (isStopped) warn(`${kind.service} for host ${writtenHost} already stopped, nothing to do`)
  return isStopped
}

async function restart(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  const { kind, tell, error } = run
  const { host, className, place } = instance
  if (wasStopped(run, instance)) return enableAndLaunch(run, instance)
  if (!(await stopDaemon(run, instance))) {
    error(`restart failed to stop host ${host} in class ${className}`)
    return false
  }
  tell(1, `Looking for ${kind.service} using directory ${place} ...`)
  // A dry run finds it still there.
  if (run.showsOnly && daemonOf(run, instance) !== undefined) return true
  tell(1, `Not found as expected, launching new ${kind.service}`)
  return launch(run, instance)
}

/** Starts what has failed. Unlike the reference's, it leaves alone what was stopped on purpose. */
async function check(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  if (instance.isStopped) {
    run.tell(1, `${nameOf(run, instance)} is stopped, nothing to do`)
    return true
  }
  return (await isThere(run, instance)) || enableAndLaunch(run, instance)
}

/** A file goes with its last instance. Unlike in the reference, a stopped instance is one. */
async function destroy(run: FarmRun, instance: FarmInstance): Promise<boolean> {
  const { showsOnly, say, tell } = run
  const { file, line } = instance
  if (!wasStopped(run, instance) && !(await stopDaemon(run, instance))) return false
  tell(1, `Remove ${nameOf(run, instance)} in control file ${file}`)
  const { text, difference } = removeLine(readFileSync(file, 'utf8'), line)
  tellDifference(run, instance, 'removing', difference)
  if (hasInstances(text)) {
    installControl(run, file, text)
    return true
  }
  tell(1, `Remove control file ${file}`)
  if (showsOnly) say(`+ rm ${file}`)
  else rmSync(file)
  return true
}

function edit(
  run: FarmRun,
  instance: FarmInstance,
  what: string,
  whileDoing: string,
  change: (text: string, line: number) => Edit,
): void {
  const { file, line } = instance
  run.tell(1, `${what} ${nameOf(run, instance)} in control file ${file}`)
  const { text, difference } = change(readFileSync(file, 'utf8'), line)
  tellDifference(run, instance, whileDoing, difference)
  installControl(run, file, text)
}

function tellDifference(
  { tell }: FarmRun,
  { file, writtenHost, writtenPlace }: FarmInstance,
  whileDoing: string,
  difference: string,
): void {
  const after = `after ${whileDoing} host ${writtenHost} and directory ${writtenPlace} ...`
  tell(2, `Diffs for control file ${file} ${after}\n${difference.trimEnd()}`)
}

function nameOf({ kind }: FarmRun, { writtenHost, writtenPlace }: FarmInstance): string {
  return `${kind.service} for host ${writtenHost} and directory ${writtenPlace}`
}
