/**
 * Start-up of whole processes: `--version` of each tool beside bare node, and the first values of some tools beside the
 * reference's. `npm run bench -- start [--runs N]`
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startOurs } from './lib/collectors.ts'
import { table } from './lib/report.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '15' } } })
const runs = Number(values.runs)
const top = process.cwd()
const env: NodeJS.ProcessEnv = { ...process.env }
delete env['NODE_EXTRA_CA_CERTS'] // triples the start of every Node 20 process

function time(command: string, args: readonly string[]): number {
  const start = process.hrtime.bigint()
  spawnSync(command, args, { env, stdio: 'ignore' })
  return Number(process.hrtime.bigint() - start) / 1e6
}

/** Returns the best of interleaved runs after a warm-up, because other load on the machine only adds to the time. */
function compare(commands: readonly (readonly [string, readonly string[]])[]): number[] {
  const times = commands.map((): number[] => [])
  for (let round = 0; round <= runs; round++)
    commands.forEach(([command, args], i) => {
      const ms = time(command, args)
      if (round > 0) times[i]!.push(ms)
    })
  return times.map((each) => Math.min(...each))
}

const tools = readdirSync(join(top, 'bin'), { withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.json') && !entry.name.startsWith('pmda'))
  .map(({ name }) => name)
const rows: string[][] = [['--version of', 'ms', 'bare node ms', 'ratio']]
let over = 0
for (const name of tools) {
  // -V has another meaning in pmprobe, but all tools accept --version.
  const [ours, bare] = compare([
    [process.execPath, [join(top, 'bin', name), '--version']],
    [process.execPath, ['-e', '0']],
  ]) as [number, number]
  if (ours / bare > 1.3) over++
  rows.push([name, ours.toFixed(1), bare.toFixed(1), (ours / bare).toFixed(2)])
}
console.log(table(rows))
console.log(`${tools.length - over} of ${tools.length} within 1.3 times bare node`)

const collector = await startOurs(top)
try {
  const host = ['-h', `localhost:${collector.port}`]
  const metric = 'kernel.all.load'
  const live: readonly (readonly [string, readonly string[]])[] = [
    ['pminfo', [...host, '-f', metric]],
    ['pmprobe', [...host, '-v', metric]],
    ['pmval', [...host, '-s', '2', '-t', '0.01', metric]],
    ['pmrep', [...host, '-s', '2', '-t', '0.01', metric]],
    ['pmstat', [...host, '-s', '2', '-t', '0.01']],
    ['pcp', host],
  ]
  const lines: string[][] = [['live', 'ms', 'bare node ms', 'ratio', 'reference ms']]
  for (const [name, args] of live) {
    const commands: [string, readonly string[]][] = [
      [process.execPath, [join(top, 'bin', name), ...args]],
      [process.execPath, ['-e', '0']],
    ]
    if (existsSync(`/usr/bin/${name}`)) commands.push([`/usr/bin/${name}`, args])
    const [ours, bare, reference] = compare(commands)
    const ratio = (ours! / bare!).toFixed(2)
    lines.push([name, ours!.toFixed(1), bare!.toFixed(1), ratio, reference?.toFixed(1) ?? ''])
  }
  console.log(table(lines))
} finally {
  await collector.stop()
}
