/** The process of `npm start`: its arguments, its signals, its exit status. */
import { join } from 'node:path'
import { killWithStuckThreads } from '../pmcd/open-worker.ts'
import { start } from './run.ts'

/** How often it is checked that the shell npm runs us in is still there. */
const PARENT_MS = 1000

async function main(): Promise<void> {
  const stop = new Promise<void>((resolve) => {
    if (process.env['npm_lifecycle_event'] === 'start') whenOrphaned(resolve)
    // Not just once: npm passes on the Ctrl-C that the terminal has sent us already, which must not cut the end short.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
  const started = await start({
    // npm start's script loads this file: the options are what follows that script's name.
    args: process.argv.slice(2),
    env: process.env,
    binDir: join(__dirname, '..', 'bin'),
    cwd: process.cwd(),
    platform: process.platform,
    say: (line) => process.stdout.write(`${line}\n`),
  })
  if (started === undefined) return
  await stop
  await started.close()
  killWithStuckThreads()
}

/** npm passes SIGTERM on to its shell only, which ends without telling us: who stopped npm has stopped us. */
function whenOrphaned(stop: () => void): void {
  const shell = process.ppid
  setInterval(() => {
    if (process.ppid !== shell) stop()
  }, PARENT_MS).unref()
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`npm start: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  },
)
