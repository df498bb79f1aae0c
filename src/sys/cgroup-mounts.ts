/** Mounted hierarchies of control groups. cgroups(7) */

/** A mounted hierarchy. */
export interface CgroupMount {
  readonly path: string
  /** Of version 1; empty for version 2, which has all controllers. */
  readonly controllers: readonly string[]
  readonly version: 1 | 2
}

/** Returns the control group mounts in /proc/mounts. `isController` recognizes names of controllers among mount options. */
export function parseCgroupMounts(
  text: string,
  isController: (option: string) => boolean,
): readonly CgroupMount[] {
  const mounts: CgroupMount[] = []
  for (const line of text.split('\n')) {
    const [, path = '', type, options = ''] = line.split(' ')
    if (type === 'cgroup2') mounts.push({ path: unescaped(path), controllers: [], version: 2 })
    else if (type === 'cgroup')
      mounts.push({ path: unescaped(path), controllers: options.split(',').filter(isController), version: 1 })
  }
  return mounts
}

/** Decodes spaces, which mounts(5) writes as \040. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
