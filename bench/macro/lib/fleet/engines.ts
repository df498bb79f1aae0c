/** Engines that store a fleet's history: each is started, loaded by our commands, measured and queried. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { pssMb } from '../memory.ts'
import { answer, diskBytes, listening, type Run, run, sleep, start, stop } from './processes.ts'
import type { StoreAddress } from './queries.ts'

/** A running engine that has the values of a directory of archives. */
export interface LoadedEngine {
  /** Our command that loaded them. */
  readonly loading: Run
  /** Memory after loading. */
  readonly loadedMb: number
  /** Bytes on disk, with what each is; none for an engine that keeps everything in memory. */
  readonly disk: readonly (readonly [what: string, bytes: number])[]
  readonly address: StoreAddress
  /** Returns the memory of the engine. */
  memoryMb(): number
  close(): Promise<void>
}

/** An engine. */
export interface Engine {
  readonly name: string
  readonly program: string
  /** Most values that a machine of 16 GB holds. */
  readonly mostValues: number
  load(archives: readonly string[], dir: string): Promise<LoadedEngine>
}

/** Time for loading. */
const LOAD_SEC = 1800
/** VictoriaMetrics writes new values to files every five seconds. */
const FLUSH_MS = 12_000

/** Returns the engines that are installed on this machine. */
export function installedEngines(): readonly Engine[] {
  return [REDIS, PROMETHEUS, VICTORIA].filter(({ program }) => existsSync(program))
}

const REDIS: Engine = {
  name: 'redis',
  program: '/usr/bin/redis-server',
  mostValues: 100e6,
  async load(archives, dir) {
    const port = await freePort()
    const args = ['--port', String(port), '--save', '', '--appendonly', 'no', '--dir', dir]
    return await loaded(start(this.program, args, dir), port, {
      command: ['pmseries', '-h', '127.0.0.1', '-p', String(port), '-L', join(archives[0]!, '..')],
      address: { kind: 'keys', port },
      disk: async () => [],
    })
  },
}

const PROMETHEUS: Engine = {
  name: 'prometheus',
  program: '/usr/bin/prometheus',
  mostValues: 200e6,
  async load(archives, dir) {
    const port = await freePort()
    const args = [
      `--web.listen-address=127.0.0.1:${port}`,
      '--config.file=/dev/null',
      `--storage.tsdb.path=${dir}`,
      '--web.enable-remote-write-receiver',
      '--web.enable-admin-api',
    ]
    return await remoteWritten(start(this.program, args, dir), port, archives, async (url) => {
      const log = diskBytes(dir)
      // Values of the last two hours are in a write-ahead log; a snapshot has the block that they become.
      await answer(`${url}/api/v1/admin/tsdb/snapshot`, 'POST')
      const block = diskBytes(join(dir, 'snapshots'))
      return [
        ['in the write-ahead log', log],
        ['as a block', block],
      ]
    })
  },
}

const VICTORIA: Engine = {
  name: 'victoria-metrics',
  program: '/usr/bin/victoria-metrics',
  mostValues: 1e9,
  async load(archives, dir) {
    const port = await freePort()
    const args = [`-httpListenAddr=127.0.0.1:${port}`, `-storageDataPath=${dir}`, '-retentionPeriod=10y']
    return await remoteWritten(start(this.program, args, dir), port, archives, async (url) => {
      await answer(`${url}/internal/force_flush`, 'POST')
      await sleep(FLUSH_MS)
      return [['', diskBytes(dir)]]
    })
  },
}

type DiskOf = (url: string) => Promise<LoadedEngine['disk']>

function remoteWritten(
  server: ChildProcess,
  port: number,
  archives: readonly string[],
  diskOf: DiskOf,
): Promise<LoadedEngine> {
  const url = `http://127.0.0.1:${port}`
  return loaded(server, port, {
    command: ['pcp2remotewrite', '--protocol=1', '-u', `${url}/api/v1/write`, '-a', archives.join(',')],
    address: { kind: 'prometheus', url },
    disk: () => diskOf(url),
  })
}

interface Loading {
  readonly command: readonly string[]
  readonly address: StoreAddress
  readonly disk: () => Promise<LoadedEngine['disk']>
}

async function loaded(
  server: ChildProcess,
  port: number,
  { command: [name, ...args], address, disk }: Loading,
): Promise<LoadedEngine> {
  try {
    await listening(server, port)
    const loading = await run(join(process.cwd(), 'bin', name!), args, LOAD_SEC)
    const loadedMb = pssMb(server.pid!)
    return {
      loading,
      loadedMb,
      disk: await disk(),
      address,
      memoryMb: () => pssMb(server.pid!),
      close: () => stop(server),
    }
  } catch (error) {
    await stop(server)
    throw error
  }
}

/** Makes the data directory of an engine. */
export function engineDir(dir: string, { name }: Engine): string {
  const own = join(dir, name)
  mkdirSync(own)
  return own
}
