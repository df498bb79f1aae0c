/** Containers of lxc: a directory each, and what lxc-info(1) says of it. */
import { readdirSync } from 'node:fs'
import { readAttribute, rooted } from '../proc.ts'
import { type Container, type ContainerPlaces, groupOfProcess } from './container.ts'

/** lxc-info answers in milliseconds; it hangs when the container's monitor does. */
const TIMEOUT_MS = 2000

/** Runs a program and returns what it printed; throws when it cannot or fails. */
export type RunInfo = (program: string, args: readonly string[]) => string

/** Every container, sorted by name; none where lxc is not installed. The program runs only when there are containers. */
export function lxcContainers(
  root: string,
  places: ContainerPlaces,
  run: RunInfo = runInfo,
): readonly Container[] {
  let names: readonly string[]
  try {
    const entries = readdirSync(rooted(root, places.lxcDir), { withFileTypes: true })
    names = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
  } catch {
    return [] // no lxc, or its files are not for us
  }
  return names.map((name) => {
    let printed = ''
    try {
      printed = run(places.lxcInfo, ['-n', name])
    } catch {
      // the program is not there: the state is unknown
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

/** Takes the lines `State:` and `PID:` of lxc-info apart, in capitals or not. */
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
