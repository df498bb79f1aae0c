/** The process of `npm start`: its arguments, its signals, its exit status. */

import { dirname } from 'node:path'
import { every } from '../base/every.ts'
import { onAbort } from '../base/on-abort.ts'
import { loggable } from '../base/printable.ts'
import { start } from './run.ts'

/** How often it is checked that the shell npm runs us in is still there. */
const PARENT_MS = 1000

async function main(): Promise<void> {
  const stop = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    onAbort(stop.signal, resolve)
  })
  // It also keeps the process while all parts wait to be started again.
  const look = (): void => {
    if (isOrphaned()) stop.abort()
  }
  every(PARENT_MS, look, (error) => process.stderr.write(`npm start: ${String(error)}\n`))
  // Not just once: npm passes on the Ctrl-C that the terminal has sent us already, which must not cut the end short.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  // Lines for a terminal, or a pipe, that has gone: collecting and recording continue.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  const started = await start({
    // npm start's script loads this file: the options are what follows that script's name.
    args: process.argv.slice(2),
    env: process.env,
    binDir: dirname(__dirname),
    partsDir: __dirname,
    cwd: process.cwd(),
    platform: process.platform,
    say: (line) => process.stdout.write(`${loggable(line)}\n`),
    isTerminal: process.stdout.isTTY === true,
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (stop.signal.aborted) return undefined
    throw error
  })
  if (started === undefined) return
  await stopped
  await started.close()
}

const shell = process.ppid

/** npm passes SIGTERM on to its shell only, which ends without telling us: who stopped npm has stopped us. */
function isOrphaned(): boolean {
  return process.env['npm_lifecycle_event'] === 'start' && process.ppid !== shell
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`npm start: ${loggable(error instanceof Error ? error.message : String(error))}\n`)
    process.exit(1)
  },
)
