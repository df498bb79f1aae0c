/** lxc containers: a directory each, with the state from lxc-info(1). */
import { readdirSync } from 'node:fs'
import { readAttribute, rooted } from '../proc.ts'
import { type Container, type ContainerPaths, groupOfProcess } from './container.ts'

/** lxc-info answers in milliseconds; it hangs when the container's monitor does. */
const TIMEOUT_MS = 2000

/** Runs a program and returns its output. Throws if it cannot be run or fails. */
export type RunInfo = (program: string, args: readonly string[]) => string

/** Returns all containers, sorted by name; none if lxc is not installed. lxc-info runs only if there are containers. */
export function lxcContainers(
  root: string,
  places: ContainerPaths,
  run: RunInfo = runInfo,
): readonly Container[] {
  let names: readonly string[]
  try {
    const entries = readdirSync(rooted(root, places.lxcDir), { withFileTypes: true })
    names = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
  } catch {
    return [] // no lxc, or no access to its files
  }
  return names.map((name) => {
    let printed = ''
    try {
      printed = run(places.lxcInfo, ['-n', name])
    } catch {
      // lxc-info is not installed: the state is unknown
    }
    const { state, pid } = parseLxcInfo(printed)
    const isRunning = state === undefined ? undefined : state === 'RUNNING'
    const told =
      pid === undefined ? undefined : groupOfProcess(readAttribute(root, `/proc/${pid}/cgroup`) ?? '')
    return {
      engine: 'lxc',
      id: name,
      name,
      pid,
      cgroup: pid === undefined ? undefined : told?.includes(name) ? told : `/lxc/${name}`,
      isRunning,
      isPaused: state === undefined ? undefined : state === 'FROZEN',
      isRestarting: state === undefined ? undefined : false,
      hostname: undefined,
    }
  })
}

/** Parses the lines `State:` and `PID:` of lxc-info, case-insensitively. */
export function parseLxcInfo(text: string): {
  readonly state: string | undefined
  readonly pid: number | undefined
} {
  const field = (name: string): string | undefined => new RegExp(`^${name}:\\s*(\\S+)`, 'im').exec(text)?.[1]
  const pid = Number(field('pid'))
  return { state: field('state')?.toUpperCase(), pid: pid > 0 ? pid : undefined }
}

const runInfo: RunInfo = (program, args) =>
  process.getBuiltinModule('node:child_process').execFileSync(program, args, {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
