/** Names of containers of Kubernetes, from the names of the files that kubelet and the engines create. */

/** A container of a pod. */
export interface PodMember {
  readonly pod: string
  readonly namespace: string
  /** Name within the pod; undefined if unknown. */
  readonly name: string | undefined
}

const LOG_LINK = /^([^_]+)_([^_]+)_([^_]+)-([0-9a-f]{64})\.log$/
const LOG_DIRECTORY = /^([^_]+)_([^_]+)_([^_]+)$/
const CRI_NAME = /^k8s_([^_]+)_([^_]+)_([^_]+)_[^_]*_\d+$/
const POD_GROUP = /pod([0-9a-f]{8}[-_](?:[0-9a-f]{4}[-_]){3}[0-9a-f]{12}|[0-9a-f]{32})(?=[./]|$)/

/** Whether a name in /var/log/containers is that of a container's log: POD_NAMESPACE_CONTAINER-ID.log. */
export function isPodLog(name: string): boolean {
  return LOG_LINK.test(name)
}

/** Returns the containers by id from the names in /var/log/containers. */
export function parsePodLogs(names: readonly string[]): ReadonlyMap<string, PodMember> {
  const members = new Map<string, PodMember>()
  for (const each of names) {
    const [, pod, namespace, name, id] = LOG_LINK.exec(each) ?? []
    if (id !== undefined) members.set(id, { pod: pod!, namespace: namespace!, name })
  }
  return members
}

/** Returns the pods by UID from the names in /var/log/pods: NAMESPACE_POD_UID. */
export function parsePodDirectories(names: readonly string[]): ReadonlyMap<string, PodMember> {
  const pods = new Map<string, PodMember>()
  for (const each of names) {
    const [, namespace, pod, uid] = LOG_DIRECTORY.exec(each) ?? []
    if (uid !== undefined) pods.set(uid, { pod: pod!, namespace: namespace!, name: undefined })
  }
  return pods
}

/** Returns the UID of the pod in the path of a control group, as kubelet writes it elsewhere; undefined for other groups. */
export function podUidOf(group: string): string | undefined {
  return POD_GROUP.exec(group)?.[1]?.replaceAll('_', '-')
}

/**
 * Parses a name that docker's and CRI-O's interfaces to kubelet give: k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT. The container
 * POD is the sandbox.
 */
export function parseCriName(name: string): (PodMember & { readonly isSandbox: boolean }) | undefined {
  const [, container, pod, namespace] = CRI_NAME.exec(name) ?? []
  if (namespace === undefined) return undefined
  return { name: container, pod: pod!, namespace, isSandbox: container === 'POD' }
}
