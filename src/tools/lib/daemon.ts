/** Runs daemons in the foreground, or detached in a new session while the parent waits for the start. pmcd(1), pmproxy(1) */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Option, ParsedOptions } from './options.ts'
import type { ToolIo } from './tool.ts'

type DaemonRow = 'advertise' | 'foreground' | 'systemd' | 'username' | 'port' | 'socket' | 'copy'

/** Options of all daemons. */
export const DAEMON: Readonly<Record<DaemonRow, Option>> = {
  advertise: {
    short: 'A',
    long: 'no-advertise',
    help: 'do not advertise the service (this version never does)',
  },
  foreground: {
    short: 'f',
    long: 'foreground',
    help: 'stay in the foreground, without PID file and change of user',
  },
  systemd: {
    short: 'F',
    long: 'systemd',
    help: 'stay in the foreground, otherwise run as a daemon (for service managers)',
  },
  username: {
    short: 'U',
    long: 'username',
    arg: 'USER',
    help: 'account to run as if started by root (default PCP_USER)',
  },
  port: {
    short: 'p',
    long: 'port',
    arg: 'N',
    help: 'listen on these comma-separated TCP ports; may be repeated',
  },
  socket: { short: 's', long: 'socket', arg: 'PATH', help: 'path of the unix socket' },
  copy: { short: 'x', arg: 'FILE', help: 'copy the log of a failed start to FILE' },
}

/** Set in the environment of the detached process. */
const VARIABLE = 'PCP_TS_DAEMON'

/** Is this the detached process? Clears the mark, which its own children must not inherit. */
export function isDaemonProcess(io: ToolIo): boolean {
  const isDaemon = io.env[VARIABLE] !== undefined
  delete process.env[VARIABLE]
  return isDaemon
}

/** Starts the same command line, which may be that of `pcp-ts`, in a new session; resolves when it serves clients or has failed. */
export async function startDaemon(io: ToolIo): Promise<number> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    cwd: io.cwd,
    detached: true,
    env: { ...io.env, [VARIABLE]: '1' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return new Promise((done) => {
    child.once('message', (message) => {
      const { isReady, text = '' } = message as { isReady: boolean; text?: string }
      io.stderr.write(text)
      child.disconnect()
      child.unref()
      done(isReady ? 0 : 1)
    })
    child.once('exit', (code) => done(code ?? 1))
    child.once('error', (error) => {
      io.stderr.write(`${io.progname}: cannot start the daemon: ${error.message}\n`)
      done(1)
    })
  })
}

/** Returns where to report the start: to the parent of a daemon or on standard error, and in the file of -x. */
export function startReports(
  { given }: ParsedOptions,
  { logPath, isDaemon }: { readonly logPath: string; readonly isDaemon: boolean },
  io: ToolIo,
): { started(): void; failed(message: string): void } {
  return {
    started: () => void process.send?.({ isReady: true }),
    failed: (message) => {
      let text = `${io.progname}: ${message}\n`
      const copy = given.findLast(({ name }) => name === 'x')?.value
      const problem = copy === undefined ? undefined : copyLog(logPath, resolve(io.cwd, copy), text)
      if (problem !== undefined) text += `${io.progname}: ${problem.message}\n`
      if (isDaemon) process.send?.({ isReady: false, text })
      else io.stderr.write(text)
    },
  }
}

/**
 * Copies the log, or without a log the error of the start, to the file of -x. Returns an error instead of throwing it, as it
 * must not hide why the start failed.
 */
function copyLog(log: string, to: string, text: string): Error | undefined {
  let whole = text
  try {
    if (log !== '-') whole = readFileSync(log, 'utf8')
  } catch {
    // The log could not be opened; `text` is that error.
  }
  try {
    writeFileSync(to, whole)
  } catch (error) {
    return error as Error
  }
  return undefined
}
