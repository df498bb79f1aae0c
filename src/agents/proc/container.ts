/** The container a process is in, as its control groups tell. */

/** Directory names that container programs give: the long id, or one of the forms with a program's name around it. */
const ID = /^(?:docker-|libpod-|crio-|cri-containerd-|containerd-)?([0-9a-f]{64})(?:\.scope)?$/

/** The container's long id in /proc/PID/cgroup or in the path of a control group; '' when there is none. */
export function containerOf(text: string): string {
  for (const part of text.split(/[/\n:]/)) {
    const match = ID.exec(part)
    if (match !== null) return match[1]!
  }
  return ''
}
