/** Checks of Node, its libraries, and the limits of this process. */
import { AGENTS } from '../../../../agents/registry.ts'
import { type Check, fail, ok, warn } from '../check.ts'

const OLDEST = [20, 19] as const
const LOW_FILES = 1024
const LOW_MEMORY = 256 * 1024 * 1024

export const RUNTIME_CHECKS: readonly Check[] = [
  {
    id: 'node',
    title: 'Version of Node',
    run: ({ nodeVersion, nodeLts }) => {
      const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
      const [first, second] = OLDEST
      if (major < first || (major === first && minor < second))
        return fail(
          `Node ${nodeVersion} is too old`,
          `install Node ${first}.${second} or later: https://nodejs.org`,
        )
      if (major % 2 === 1)
        return warn(
          `Node ${nodeVersion} is an odd release, supported for half a year only`,
          `install an even one, e.g. Node ${major + 1}`,
        )
      return ok(`Node ${nodeVersion}${nodeLts === undefined ? '' : ` (${nodeLts})`}`)
    },
  },
  {
    id: 'libc',
    title: 'C library',
    platforms: ['linux'],
    run: ({ glibc }) =>
      glibc === undefined
        ? ok('not glibc, e.g. musl of Alpine: users of LDAP and NIS are not resolved without koffi')
        : ok(`glibc ${glibc}`),
  },
  {
    id: 'koffi',
    title: 'Package koffi, which calls the C library',
    run: ({ nativeProblem, platform }) =>
      nativeProblem === undefined
        ? ok('works')
        : warn(
            `${nativeProblem.replace(/[.:]\s*$/, '')}; lost are: users of unix sockets in access rules, other accounts for agents, process accounting, quotas, counters of KVM`,
            platform === 'linux'
              ? 'npm install koffi beside pcp-ts, if these are needed'
              : 'nothing: works on Linux only',
          ),
  },
  {
    id: 'files',
    title: 'Limit on open files',
    platforms: ['linux'],
    run: ({ readText }) => {
      const limit = Number(/^Max open files\s+(\d+)/m.exec(readText('/proc/self/limits') ?? '')?.[1])
      if (Number.isNaN(limit)) return ok('unlimited or unknown')
      if (limit < LOW_FILES)
        return warn(
          `${limit} open files at most; clients are refused early`,
          `raise it: ulimit -n ${LOW_FILES}`,
        )
      return ok(`${limit} open files`)
    },
  },
  {
    id: 'memory',
    title: 'Memory',
    run: ({ readText, totalMemory }) => {
      const available = Number(/^MemAvailable:\s+(\d+) kB/m.exec(readText('/proc/meminfo') ?? '')?.[1]) * 1024
      const cgroup = Number(readText('/sys/fs/cgroup/memory.max'))
      const free = Math.min(
        Number.isNaN(available) ? totalMemory : available,
        Number.isFinite(cgroup) && cgroup > 0 ? cgroup : Number.POSITIVE_INFINITY,
      )
      const mib = Math.floor(free / 1024 / 1024)
      return free < LOW_MEMORY
        ? warn(
            `${mib} MiB are available`,
            'an instance takes about 250 MiB: start it with --no-record, or with fewer --agents',
          )
        : ok(`${mib} MiB are available`)
    },
  },
  {
    id: 'root',
    title: 'User',
    run: ({ uid, userName }) =>
      uid === 0
        ? warn(
            'running as root: the collector and its agents have more rights than they need',
            'run pcp-ts start as another user, or as a service with an account of its own: pcp-ts service install --system',
          )
        : ok(userName),
  },
  {
    id: 'platform',
    title: 'What works on this platform',
    run: ({ platform }) => {
      const lost = AGENTS.filter((agent) => (agent.platform ?? platform) !== platform).map(({ name }) => name)
      const sockets = platform === 'win32' ? '; without unix sockets, so over TCP only' : ''
      const here = AGENTS.filter(
        ({ name, isDemonstration }) => !lost.includes(name) && isDemonstration !== true,
      )
      const agents = `agents ${here.map(({ name }) => name).join(', ')}`
      if (lost.length === 0) return ok(`everything: ${agents}`)
      return warn(
        `archives, reports, charts and the library; ${agents}${sockets}; not the agents ${lost.join(', ')}`,
        'collect on Linux, and use -h HOST or archives here',
      )
    },
  },
]
