/** The machine that `pcp-ts doctor` runs on. Nothing is changed on it. */

import { lookup } from 'node:dns/promises'
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statfsSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { totalmem, userInfo } from 'node:os'
import { dirname } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { openArchive } from '../../../pmapi/archive.ts'
import { planDirectories } from '../../../start/directories.ts'
import { statusOf } from '../../../start/status.ts'
import { homeDir } from '../../../sys/config.ts'
import { nativeProblem } from '../../../sys/native/calls.ts'
import { trustedPath } from '../../../sys/trusted-path.ts'
import type { ToolIo } from '../../lib/tool.ts'
import type { DiskSpace, Machine } from './check.ts'

/** Longest time for a page or a socket. */
const ANSWER_MS = 2000

/** Looks at this machine. */
export async function thisMachine({
  env,
  now,
  binDir,
}: Pick<ToolIo, 'env' | 'now'> & { binDir: string }): Promise<Machine> {
  // The checks of PCP_CONF report an invalid one.
  const { PCP_CONF: _conf, PCP_DIR: _dir, ...others } = env
  const place = planDirectories(undefined, others, binDir, {})
  const { variables } = place
  return {
    env,
    platform: process.platform,
    nodeVersion: process.version,
    nodeLts: process.release.lts,
    glibc: glibcVersion(),
    uid: process.getuid?.(),
    userName: nameOfUser(),
    homeDir: homeDir(env),
    binDir: realpathSync(binDir),
    nativeProblem: nativeProblem(),
    totalMemory: totalmem(),
    now: now(),
    instances: await statusOf({ env: others, now, readText }),
    stateDirs: [
      dirname(place.confPath),
      variables['PCP_VAR_DIR']!,
      variables['PCP_LOG_DIR']!,
      place.archiveDir,
      dirname(place.socketPath),
    ],
    socketPath: place.socketPath,
    readText,
    list,
    exists: existsSync,
    isWritable,
    linkTarget,
    distrust,
    disk,
    listen: tryToListen,
    probe,
    lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
    get,
    archiveProblem: (path) => archiveProblem(path, env),
  }
}

function glibcVersion(): string | undefined {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined
  return report?.header?.glibcVersionRuntime
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.()}` // a user id without an account
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function list(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    return [] // missing, or of another user
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function distrust(path: string): string | undefined {
  try {
    trustedPath(path)
    return undefined
  } catch (error) {
    return PcpError.from(error).message
  }
}

function disk(path: string): DiskSpace | undefined {
  try {
    const { bsize, bavail, blocks, ffree, files } = statfsSync(path)
    return { freeBytes: bsize * bavail, totalBytes: bsize * blocks, freeInodes: ffree, totalInodes: files }
  } catch {
    return undefined
  }
}

function tryToListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

function probe(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    const end = (answer: string | undefined): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(ANSWER_MS, () => end('ETIMEDOUT'))
    socket.once('connect', () => end(undefined))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}

async function get(url: string): Promise<number | string> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    await reply.body?.cancel()
    return reply.status
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}

async function archiveProblem(path: string, env: ToolIo['env']): Promise<string | undefined> {
  try {
    await using context = await openArchive(path, { env, stopsAtDamage: true })
    context.archive!.end()
    return undefined
  } catch (error) {
    return PcpError.from(error).message
  }
}
