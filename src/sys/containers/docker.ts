/** Containers of docker, out of the files that its daemon keeps of each. */
import { existsSync, readdirSync } from 'node:fs'
import { readAttribute, rooted } from '../proc.ts'
import { type Container, type ContainerPlaces, groupOfProcess } from './container.ts'

const ID = /^[0-9a-f]{64}$/

/** Every container, sorted by id; none where docker is not installed. */
export function dockerContainers(root: string, places: ContainerPlaces): readonly Container[] {
  const directory = `${places.dockerDir}/containers`
  let ids: readonly string[]
  try {
    ids = readdirSync(rooted(root, directory))
      .filter((name) => ID.test(name))
      .sort()
  } catch {
    return [] // no docker, or its files are not for us
  }
  return ids.map((id) => {
    const text =
      readAttribute(root, `${directory}/${id}/config.v2.json`) ??
      readAttribute(root, `${directory}/${id}/config.json`)
    const known = parseDocker(id, text ?? '')
    const isAlive = known.isRunning === true && known.pid !== undefined
    return isAlive ? { ...known, cgroup: groupOf(root, places, id, known.pid) } : known
  })
}

/** Takes config.v2.json apart, or config.json of docker before 1.9. Of a file that cannot be read only the id is known. */
export function parseDocker(id: string, text: string): Container {
  const config = parsed(text)
  const state = (config?.['State'] ?? {}) as { readonly [key: string]: unknown }
  // a switch that docker does not write down is off: its versions before had no such state
  const is = (key: string): boolean | undefined => (config === undefined ? undefined : state[key] === true)
  const { Name: name, Config: settings } = config ?? {}
  const hostname = (settings as { readonly Hostname?: unknown } | undefined)?.Hostname
  return {
    engine: 'docker',
    id,
    name: typeof name === 'string' ? name.replace(/^\//, '') : undefined,
    pid: typeof state['Pid'] === 'number' && state['Pid'] > 0 ? state['Pid'] : undefined,
    cgroup: undefined,
    isRunning: is('Running'),
    isPaused: is('Paused'),
    isRestarting: is('Restarting'),
    hostname: typeof hostname === 'string' ? hostname : undefined,
  }
}

function parsed(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as { [key: string]: unknown })
      : undefined
  } catch {
    return undefined // half written: at the next look it is whole
  }
}

/** That of its process; while this is not to be seen, where docker puts it: in a scope of systemd or below /docker. */
function groupOf(root: string, places: ContainerPlaces, id: string, pid: number | undefined): string {
  const told = groupOfProcess(readAttribute(root, `/proc/${pid}/cgroup`) ?? '')
  // processes that took the number of one that ended are in another group
  if (told?.includes(id)) return told
  const { systemdGroup } = places
  const isPlain = systemdGroup === undefined && existsSync(rooted(root, '/sys/fs/cgroup/memory/docker'))
  return isPlain ? `/docker/${id}` : `${systemdGroup ?? '/system.slice'}/docker-${id}.scope`
}
