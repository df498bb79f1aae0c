/**
 * Archive tools as whole processes on an archive of 300 MB, ours and the reference's in turn, and the columnar scan
 * in this process. `npm run bench -- archive [--records N] [--rounds N] [--work WORD,...] [--dir DIR]`
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeLargeArchive } from './lib/large-archive.ts'
import { median, table } from './lib/report.ts'
import { scanSpeed } from './lib/scan-speed.ts'

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '3' },
    work: { type: 'string', default: '' },
    dir: { type: 'string' },
  },
})
const top = process.cwd()
const dir = values.dir ?? mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
mkdirSync(dir, { recursive: true })
const archive = join(dir, 'large')
const env: NodeJS.ProcessEnv = { ...process.env, TZ: 'UTC' }
delete env['NODE_EXTRA_CA_CERTS']

interface Job {
  readonly tool: string
  readonly args: readonly string[]
  /** An output file, removed after each run. */
  readonly output?: string
}

/** Metrics for pmlogextract. */
const FEW = ['bench.c64.m300', 'bench.c32.m301', 'bench.level.m302']
const EXTRACTED = join(dir, 'extract')
const JOBS: readonly Job[] = [
  { tool: 'pmlogsummary', args: [archive] },
  { tool: 'pmdumplog', args: ['-a', archive] },
  { tool: 'pmval', args: ['-t', '10', '-a', archive, 'bench.c64.m300'] },
  { tool: 'pmlogextract', args: ['-c', join(dir, 'few'), archive, EXTRACTED], output: EXTRACTED },
  { tool: 'pmlogcheck', args: [archive] },
]

function where(tool: string): string | undefined {
  return [`/usr/bin/${tool}`, `/usr/lib/pcp/bin/${tool}`].find((path) => existsSync(path))
}

/** Returns the seconds that a process takes. */
function run(command: string, { args, output }: Job): number {
  const start = process.hrtime.bigint()
  // In a shell, so that output is redirected to a file and not through this process.
  const { status } = spawnSync('/bin/sh', ['-c', 'exec "$0" "$@" >/dev/null 2>&1', command, ...args], { env })
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  if (output !== undefined)
    for (const part of ['index', 'meta', '0']) rmSync(`${output}.${part}`, { force: true })
  if (status !== 0) console.log(`${command} ended with status ${status}`)
  return seconds
}

/** Returns a row of the table: medians of interleaved rounds, of which the first does not count. */
function compare(job: Job): string[] {
  const reference = where(job.tool)
  const commands = [join(top, 'bin', job.tool), ...(reference === undefined ? [] : [reference])]
  const times = commands.map((): number[] => [])
  for (let round = 0; round <= Number(values.rounds); round++)
    commands.forEach((command, i) => {
      const seconds = run(command, job)
      if (round > 0) times[i]!.push(seconds)
    })
  const [ours, theirs] = times.map(median)
  const ratio = theirs === undefined ? '-' : (ours! / theirs).toFixed(2)
  return [job.tool, ours!.toFixed(2), theirs?.toFixed(2) ?? '-', ratio]
}

try {
  const bytes = writeLargeArchive(archive, Number(values.records))
  writeFileSync(join(dir, 'few'), FEW.map((name) => `${name}\n`).join(''))
  console.log(`${(bytes / 1e6).toFixed(0)} MB of values in ${values.records} records`)
  const wanted = values.work === '' ? undefined : values.work.split(',')
  const jobs = JOBS.filter(({ tool }) => wanted === undefined || wanted.includes(tool))
  console.log(table([['whole process', 'ours s', 'reference s', 'ratio'], ...jobs.map(compare)]))
  if (wanted === undefined || wanted.includes('scan')) console.log(await scanSpeed(archive))
} finally {
  if (values.dir === undefined) rmSync(dir, { recursive: true, force: true })
}
