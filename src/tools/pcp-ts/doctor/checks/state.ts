/** Checks of directories, sockets, disks and archives. */
import { dirname, join } from 'node:path'
import { MAX_SOCKET_PATH } from '../../../../net/listen.ts'
import { type Check, fail, type Machine, ok, warn } from '../check.ts'

const LOW_DISK = 100 * 1024 * 1024
const LOW_INODES = 1000

/** Returns the directory itself, or the nearest one that exists above it. */
function existing({ exists }: Machine, path: string): string {
  let at = path
  while (!exists(at) && dirname(at) !== at) at = dirname(at)
  return at
}

export const STATE_CHECKS: readonly Check[] = [
  {
    id: 'state',
    title: 'Directories for settings, logs and archives',
    run: (machine) => {
      const bad = machine.stateDirs.find((dir) => !machine.isWritable(existing(machine, dir)))
      return bad === undefined
        ? ok('writable')
        : fail(
            `${existing(machine, bad)} is not writable`,
            'change its owner or mode, or choose another: pcp-ts start --dir DIR',
          )
    },
  },
  {
    id: 'trust',
    title: 'Who controls these directories',
    run: (machine) => {
      const problems = machine.stateDirs.flatMap((dir) => machine.distrust(existing(machine, dir)) ?? [])
      return problems.length === 0
        ? ok('this user and root only')
        : fail(problems[0]!, 'correct owner and mode: pcp-ts does not start there')
    },
  },
  {
    id: 'socket-path',
    title: 'Length of the path of the socket',
    run: ({ socketPath }) => {
      const bytes = Buffer.byteLength(socketPath)
      return bytes <= MAX_SOCKET_PATH
        ? ok(`${bytes} of ${MAX_SOCKET_PATH} bytes`)
        : warn(
            `${socketPath} has ${bytes} bytes, ${MAX_SOCKET_PATH} are possible: no socket, TCP only`,
            'use a shorter XDG_RUNTIME_DIR or --dir',
          )
    },
  },
  {
    id: 'disk',
    title: 'Disk space',
    run: (machine) => {
      const places = new Set([
        ...machine.stateDirs,
        ...machine.instances.flatMap(({ recording }) => recording?.dir ?? []),
      ])
      for (const dir of places) {
        const space = machine.disk(existing(machine, dir))
        if (space === undefined) continue
        if (space.freeBytes < LOW_DISK)
          return fail(
            `${Math.floor(space.freeBytes / 1024 / 1024)} MiB are free for ${dir}`,
            'free some, or keep less: pcp-ts start --keep-size SIZE --keep-days N',
          )
        if (space.totalInodes > 0 && space.freeInodes < LOW_INODES)
          return fail(`${space.freeInodes} files can still be made for ${dir} (inodes)`, 'remove files there')
      }
      return ok(`enough in ${places.size} directories`)
    },
  },
  {
    id: 'stale',
    title: 'Sockets and records of dead instances',
    run: async (machine) => {
      const { socketPath, exists, probe } = machine
      const run = dirname(socketPath)
      const lives = machine.instances.some((each) => each.runDir === run)
      if (lives) return ok('none: the instance runs')
      const record = join(run, 'instance.json')
      if (exists(socketPath) && (await probe(socketPath)) !== undefined)
        return warn(
          `nobody listens on ${socketPath}`,
          'harmless: commands pass it over, and the next pcp-ts start replaces it',
        )
      return exists(record)
        ? warn(`${record} names a process that has ended`, 'harmless: the next pcp-ts start replaces it')
        : ok('none')
    },
  },
  {
    id: 'archives',
    title: 'The newest archive of each instance',
    run: async ({ instances, archiveProblem }) => {
      const paths = instances.flatMap(({ recording }) =>
        recording?.archive === undefined ? [] : [join(recording.dir, recording.archive)],
      )
      const problems = await Promise.all(paths.map((path) => archiveProblem(path)))
      const bad = problems.findIndex((problem) => problem !== undefined)
      if (bad >= 0)
        return fail(`${paths[bad]}: ${problems[bad]}`, `examine it: pcp-ts pmlogcheck ${paths[bad]}`)
      return ok(paths.length === 0 ? 'no instance records' : paths.join(', '))
    },
  },
  {
    id: 'instances',
    title: 'What runs',
    run: ({ instances }) => {
      const problems = instances.flatMap((each) => each.problems)
      if (problems.length > 0) return fail(problems[0]!, 'see pcp-ts status for all')
      return ok(instances.length === 0 ? 'nothing' : `${instances.length} without problems`)
    },
  },
]
