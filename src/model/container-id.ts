/** Finds the container of a process from its control groups. */

/** Directory names used by container engines: the long id, alone or with a prefix and suffix. */
const ID = /^(?:docker-|libpod-|crio-|cri-containerd-|containerd-)?([0-9a-f]{64})(?:\.scope)?$/

/** Returns the container's long id in /proc/PID/cgroup or in the path of a control group; '' if there is none. */
export function containerOf(text: string): string {
  for (const part of text.split(/[/\n:]/)) {
    const match = ID.exec(part)
    if (match !== null) return match[1]!
  }
  return ''
}
