/** Running containers of containerd, as Kubernetes, nerdctl and ctr start them: a directory each. */
import type { Container, ContainerProcesses } from './container.ts'
import { asObject, asText, type EngineFiles, jsonObject, MAX_CONFIG } from './engine-files.ts'

/** containerd's directory of running containers, and those of k3s and MicroK8s. */
const TASK_DIRS = ['/run/containerd', '/run/k3s/containerd', '/var/snap/microk8s/common/run/containerd'].map(
  (dir) => `${dir}/io.containerd.runtime.v2.task`,
)
/** Containers of docker, which has more about them in its own files. */
const OF_DOCKER = 'moby'
/** Name of a directory: containerd's rule for identifiers. */
const IDENTIFIER = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/
const MAX_LINE = 32

/** What does not change while a container runs. */
interface Described extends Pick<Container, 'name' | 'image' | 'pod' | 'namespace' | 'member' | 'hostname'> {
  readonly isHelper: boolean
  /** Configured path of its control group, if it is a path. */
  readonly path: string | undefined
}

/** Returns all running containers, by namespace and id; none if containerd is not installed. */
export function containerdContainers(
  files: EngineFiles,
  processes: ContainerProcesses,
): readonly Container[] {
  const containers: Container[] = []
  for (const tasks of TASK_DIRS)
    for (const namespace of files.names(tasks, (name) => IDENTIFIER.test(name) && name !== OF_DOCKER))
      for (const id of files.names(`${tasks}/${namespace}`, (name) => IDENTIFIER.test(name))) {
        const directory = `${tasks}/${namespace}/${id}`
        const known = files.parsed(`${directory}/config.json`, MAX_CONFIG, parseContainerd)
        if (known === undefined) continue
        const { path, ...about } = known
        const pid = files.parsed(`${directory}/init.pid`, MAX_LINE, (text) => Number(text) || undefined)
        const cgroup = (pid === undefined ? undefined : processes.groupOf(id, pid)) ?? path
        containers.push({
          ...about,
          engine: 'containerd',
          id,
          name: about.name ?? id,
          pid,
          cgroup,
          isRunning: true,
          isPaused: false,
          isRestarting: false,
        })
      }
  return containers
}

/** Parses config.json, the OCI specification of a container. */
export function parseContainerd(text: string): Described | undefined {
  const config = jsonObject(text)
  if (config === undefined) return undefined
  const notes = asObject(config['annotations']) ?? {}
  const cri = (name: string): string | undefined => asText(notes[`io.kubernetes.cri.${name}`])
  const member = cri('container-name')
  const path = asText(asObject(config['linux'])?.['cgroupsPath'])
  const isSandbox = cri('container-type') === 'sandbox'
  return {
    name: member ?? asText(notes['nerdctl/name']),
    image: cri('image-name') ?? asText(notes['nerdctl/image-name']),
    pod: cri('sandbox-name'),
    namespace: cri('sandbox-namespace'),
    member: isSandbox ? 'POD' : member,
    hostname: asText(config['hostname']),
    isHelper: isSandbox,
    path: path?.startsWith('/') === true && !path.includes('..') ? path : undefined,
  }
}
