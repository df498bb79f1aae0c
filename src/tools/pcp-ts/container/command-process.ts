/** A command of this package that a container keeps running. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { withTimeout } from '../../../base/within.ts'
import { PcpError } from '../../../model/errors.ts'
import type { PartProcess } from '../../../start/part-process.ts'
import type { Variables } from '../../../sys/config.ts'

/** A command line of this package. */
export interface CommandLine {
  readonly name: string
  readonly args: readonly string[]
  readonly env: Variables
}

/** Time to stop: a recorder writes its last records. */
const STOP_MS = 20_000

/** Starts a command in the foreground; its output is the container's. */
export function openCommand(binDir: string, { name, args, env }: CommandLine): PartProcess<undefined> {
  const child = spawn(process.execPath, [join(binDir, name), ...args], {
    env: { ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (status, signal) =>
      resolve(signal === null ? `ended with status ${status}` : `was killed by ${signal}`),
    )
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(`cannot be run: ${PcpError.from(error).text}`)
    })
  })
  return {
    pid: child.pid,
    started: Promise.resolve(undefined),
    ended,
    stop: async () => {
      child.kill('SIGTERM')
      if ((await withTimeout(STOP_MS, ended)) !== undefined) return
      child.kill('SIGKILL')
      await ended
    },
  }
}
