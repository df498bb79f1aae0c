/** CPU lists in the kernel's format: `0-3,8,10-11`. */

/** Larger than any kernel's NR_CPUS. */
const MAX_CPUS = 65_536

/** Returns the CPUs of a list, at most 65,536; invalid parts are ignored. */
export function parseCpuList(text: string): readonly number[] {
  const cpus: number[] = []
  for (const part of text.trim().split(',')) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part)
    if (range === null) continue
    const first = Number(range[1])
    const last = Math.min(Number(range[2] ?? first), MAX_CPUS - 1)
    for (let cpu = first; cpu <= last && cpus.length < MAX_CPUS; cpu++) cpus.push(cpu)
  }
  return cpus
}
