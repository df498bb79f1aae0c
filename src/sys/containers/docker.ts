/** Docker containers, from the files of its daemon. */
import { existsSync } from 'node:fs'
import { rooted } from '../proc.ts'
import type { Container, ContainerPaths, ContainerProcesses } from './container.ts'
import { asObject, asText, type EngineFiles, jsonObject, MAX_CONFIG } from './engine-files.ts'
import { parseCriName } from './pods.ts'
import { type ContainerUser, parseDockerConf } from './users.ts'

const ID = /^[0-9a-f]{64}$/
/** docker's own directory, and that of its snap package. */
const DEFAULT_DIRS = ['/var/lib/docker', '/var/snap/docker/common/var-lib-docker']
const CONF = '/etc/docker/daemon.json'
/** Time of start in the file of a container that was never started. */
const NEVER = '0001-'

/** Returns all containers of root's and the users' daemons, sorted by id; none if docker is not installed. */
export function dockerContainers(
  root: string,
  places: ContainerPaths,
  files: EngineFiles,
  processes: ContainerProcesses,
  users: readonly ContainerUser[],
): readonly Container[] {
  const given = places.dockerDir
  const conf = given === undefined ? files.parsed(CONF, MAX_CONFIG, parseDockerConf) : undefined
  const dirs = given === undefined ? new Set([...DEFAULT_DIRS, ...(conf ? [conf] : [])]) : [given]
  const containers: Container[] = []
  const add = (dockerDir: string, uid: number | undefined): void => {
    const directory = `${dockerDir}/containers`
    for (const id of files.names(directory, (name) => ID.test(name))) {
      const known =
        readConfig(files, `${directory}/${id}/config.v2.json`, id, uid) ??
        readConfig(files, `${directory}/${id}/config.json`, id, uid) ??
        parseDocker(id, '')
      const group = groupOf(root, places, processes, known, uid)
      containers.push({ ...known, cgroup: group, ...(uid === undefined ? {} : { uid }) })
    }
  }
  for (const dir of dirs) add(dir, undefined)
  for (const { dockerDir, uid } of users) add(dockerDir, uid)
  return containers
}

function readConfig(
  files: EngineFiles,
  path: string,
  id: string,
  uid: number | undefined,
): Container | undefined {
  return files.parsed(path, MAX_CONFIG, (text) => parseConfig(id, jsonObject(text)), uid)
}

/** Parses config.v2.json, or config.json of docker before 1.9. Only the id is known if the text is invalid. */
export function parseDocker(id: string, text: string): Container {
  return (
    parseConfig(id, jsonObject(text)) ?? {
      engine: 'docker',
      id,
      name: undefined,
      pid: undefined,
      cgroup: undefined,
      isRunning: undefined,
      isPaused: undefined,
      isRestarting: undefined,
      hostname: undefined,
    }
  )
}

function parseConfig(
  id: string,
  config: { readonly [key: string]: unknown } | undefined,
): Container | undefined {
  if (config === undefined) return undefined
  const state = asObject(config['State']) ?? {}
  // A missing switch is off: older versions of docker had no such state.
  const is = (key: string): boolean => state[key] === true
  const settings = asObject(config['Config']) ?? {}
  const labels = asObject(settings['Labels']) ?? {}
  const name = typeof config['Name'] === 'string' ? config['Name'].replace(/^\//, '') : undefined
  const member = parseCriName(name ?? '')
  const stopped = is('Dead') ? 'dead' : asText(state['StartedAt'])?.startsWith(NEVER) ? 'created' : undefined
  return {
    engine: 'docker',
    id,
    name,
    pid: typeof state['Pid'] === 'number' && state['Pid'] > 0 ? state['Pid'] : undefined,
    cgroup: undefined,
    isRunning: is('Running'),
    isPaused: is('Paused'),
    isRestarting: is('Restarting'),
    hostname: typeof settings['Hostname'] === 'string' ? settings['Hostname'] : undefined,
    image: asText(settings['Image']),
    pod: asText(labels['io.kubernetes.pod.name']) ?? member?.pod,
    namespace: asText(labels['io.kubernetes.pod.namespace']) ?? member?.namespace,
    member: asText(labels['io.kubernetes.container.name']) ?? member?.name,
    isHelper: member?.isSandbox ?? labels['io.kubernetes.docker.type'] === 'podsandbox',
    stopped,
  }
}

/** Returns the group of its process; if that is unknown, docker's default: a systemd scope or a group below /docker. */
function groupOf(
  root: string,
  { systemdGroup }: ContainerPaths,
  processes: ContainerProcesses,
  { id, pid, isRunning }: Container,
  uid: number | undefined,
): string | undefined {
  if (isRunning !== true || pid === undefined) return undefined
  // A process that reused the number is in another group; the process of a user's daemon is numbered in its own namespace.
  const told = uid === undefined ? processes.groupOf(id, pid) : undefined
  if (told !== undefined || uid !== undefined) return told
  const isPlain = systemdGroup === undefined && existsSync(rooted(root, '/sys/fs/cgroup/memory/docker'))
  return isPlain ? `/docker/${id}` : `${systemdGroup ?? '/system.slice'}/docker-${id}.scope`
}
