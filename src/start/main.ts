/** The process of `npm start`: its arguments, its signals, its exit status. */
import { join } from 'node:path'
import { start } from './run.ts'

async function main(): Promise<void> {
  const stop = new Promise<void>((resolve) => {
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
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`npm start: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  },
)
