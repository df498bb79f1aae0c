/** The root agent (domain 1): containers of docker, podman and lxc. docs/formats/root.md */
import { hostname } from 'node:os'
import type { AgentEnv, AgentTables, IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent, Reading } from '../../pmda/index.ts'
import { type Container, containerHostname, containerPlaces } from '../../sys/containers/container.ts'
import { ContainerLookup, listContainers } from '../../sys/containers/list.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import { type RootAnswers, RootSocket } from './socket.ts'

/** The agent for the collector's registry. Environment: that of `containerPlaces`. */
export const agent: AgentDefinition = defineAgent({
  name: 'root',
  domain: 1,
  options: [
    {
      short: 's',
      long: 'socket',
      arg: 'PATH',
      help: 'answer questions about containers on this unix socket (default: on none)',
    },
  ],
  open,
})

/** One metric, all of which are in cluster 0. */
interface Row extends Pick<MetricSpec, 'item' | 'type' | 'sem' | 'help' | 'text'> {
  readonly of: (container: Container) => Sample
}

const flag = (is: boolean | undefined): Sample => (is === undefined ? undefined : Number(is))

const ROWS: { readonly [name: string]: Row } = {
  engine: {
    item: 0,
    type: 'string',
    sem: 'discrete',
    help: 'Program that manages each container: docker, podman or lxc',
    of: ({ engine }) => engine,
  },
  name: {
    item: 1,
    type: 'string',
    sem: 'instant',
    help: 'What people call each container',
    text: 'The name given at its start, or the one that the engine made up. "?" where the files of the engine have none.',
    of: ({ name }) => name ?? '?',
  },
  pid: {
    item: 2,
    type: 'u32',
    sem: 'instant',
    help: 'Number of the first process of each container that runs',
    text: 'As processes outside see it. Its name spaces are those of the container: /proc/PID/ns.',
    of: ({ pid }) => pid,
  },
  cgroup: {
    item: 6,
    type: 'string',
    sem: 'discrete',
    help: 'Path of the control group of each container that runs',
    text: 'Below the mount of the control groups. That of its first process; where this cannot be seen, the one that the engine gives by its rules.',
    of: ({ cgroup }) => cgroup,
  },
  'state.running': {
    item: 3,
    type: 'u32',
    sem: 'instant',
    help: 'Do processes of the container run (1) or not (0)?',
    of: ({ isRunning }) => flag(isRunning),
  },
  'state.paused': {
    item: 4,
    type: 'u32',
    sem: 'instant',
    help: 'Was the container stopped for the moment (1) or not (0)?',
    of: ({ isPaused }) => flag(isPaused),
  },
  'state.restarting': {
    item: 5,
    type: 'u32',
    sem: 'instant',
    help: 'Is the container being started again after it ended (1) or not (0)?',
    text: 'Only docker has this state.',
    of: ({ isRestarting }) => flag(isRestarting),
  },
}

function open(env: AgentEnv): AgentTables {
  const places = containerPlaces(env.env)
  const numbers = new InstanceIds()
  const containers = new Reading(
    () =>
      new Map(listContainers(env.root, places).map((container) => [numbers.idOf(container.id), container])),
  )
  const close = serveSocket(env)
  const indom: IndomSpec = {
    serial: 0,
    reading: containers,
    instances: () => ({
      ids: [...containers.value.keys()],
      names: [...containers.value.values()].map(({ id }) => id),
    }),
    help: 'Containers, by the long id of docker and podman or the name of lxc',
    text: 'Those that an engine keeps files of, whether they run or not. Containers that users without root rights started with podman are not seen.',
  }
  const metrics: { [name: string]: PlacedRow } = {}
  for (const [name, { of, ...row }] of Object.entries(ROWS))
    metrics[`containers.${name}`] = {
      ...row,
      units: 'none',
      indom,
      reading: containers,
      value: (inst) => {
        const container = containers.value.get(inst)
        return container === undefined ? undefined : of(container)
      },
    }
  return { metrics, close }
}

/** Serves the socket that the command line names. Returns what ends that. */
function serveSocket({ root, env, clock, log, options }: AgentEnv): () => void {
  const path = options['socket']
  if (typeof path !== 'string') return () => undefined
  const lookup = new ContainerLookup(root, env, clock)
  const answers: RootAnswers = {
    find: (name) => lookup.find(name),
    ofProcess: (pid) => listContainers(root, containerPlaces(env)).find((container) => container.pid === pid),
    hostname: (container) => containerHostname(root, container),
    ownHostname: hostname,
  }
  const socket = new RootSocket(path, answers, (text) => log('error', text))
  return () => socket.close()
}
