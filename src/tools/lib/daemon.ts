/** Daemons as commands: in the foreground, or in a session of their own whose start their parent tells of. pmcd(1), pmproxy(1) */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Option, ParsedOptions } from './options.ts'
import type { ToolIo } from './tool.ts'

type DaemonRow = 'advertise' | 'foreground' | 'systemd' | 'username' | 'port' | 'socket' | 'copy'

/** Rows of the option table that all daemons have. */
export const DAEMON: Readonly<Record<DaemonRow, Option>> = {
  advertise: {
    short: 'A',
    long: 'no-advertise',
    help: 'do not advertise the service (this version never does)',
  },
  foreground: {
    short: 'f',
    long: 'foreground',
    help: 'stay in the foreground, without PID file, as the same user',
  },
  systemd: {
    short: 'F',
    long: 'systemd',
    help: 'stay in the foreground, else as a daemon: for service managers',
  },
  username: {
    short: 'U',
    long: 'username',
    arg: 'USER',
    help: 'account of a daemon that root starts (default PCP_USER)',
  },
  port: {
    short: 'p',
    long: 'port',
    arg: 'N',
    help: 'listen on this TCP port, or comma list of ports; may be repeated',
  },
  socket: { short: 's', long: 'socket', arg: 'PATH', help: 'path of the unix socket' },
  copy: { short: 'x', arg: 'FILE', help: 'copy the log of a start that failed to this file' },
}

/** Set for the process that a daemon's parent starts. */
const VARIABLE = 'PCP_TS_DAEMON'

/** Is this the process that a daemon's parent started? What it starts itself must not take itself for it. */
export function isDaemonProcess(io: ToolIo): boolean {
  const isDaemon = io.env[VARIABLE] !== undefined
  delete process.env[VARIABLE]
  return isDaemon
}

/** Starts the same command in a session of its own, and ends when that one serves clients or has failed. */
export async function startDaemon(io: ToolIo): Promise<number> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...io.args], {
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

/** Who hears how the start went: the parent of a daemon, else whoever reads standard error; and the file of -x. */
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
 * Leaves what the log says, or only why the start failed where there is no log to read, in a file that somebody looks at. Why it could
 * not: that must not hide why the start failed.
 */
function copyLog(log: string, to: string, text: string): Error | undefined {
  let whole = text
  try {
    if (log !== '-') whole = readFileSync(log, 'utf8')
  } catch {
    // it could not be opened, which is what the text is about
  }
  try {
    writeFileSync(to, whole)
  } catch (error) {
    return error as Error
  }
  return undefined
}
