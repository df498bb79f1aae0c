/** `npm run lines`, run by scripts/lines.mjs. */
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { seed as seedOfDay } from '../../../lib/seed.ts'
import { startReference } from '../programs.ts'
import { type Both, killAll, runBoth } from './both-sides.ts'
import { differenceOf } from './difference.ts'
import { LineGenerator, tablesOf } from './generate.ts'
import { knownDifference } from './known-differences.ts'
import { type Line, lineText, nameOf, parseLine } from './line.ts'
import { liveFacts } from './live-source.ts'
import { type Cause, search, type Tally } from './search.ts'

const USAGE = `Usage: npm run lines -- [--seed N] [--count N] [--tool NAME]... [--jobs N] [--log FILE] [--live] [--print]
       npm run lines -- --line 'COMMAND WORD...'

Runs made-up command lines here and in the reference, and prints those that differ, most frequent causes first.
--live takes metrics of the sample agent behind the reference's collector; --print only prints the lines, --log appends each cause to FILE as it is found, --line repeats one line.
`

/** Runs the command; resolves to its status. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      count: { type: 'string', default: '100' },
      tool: { type: 'string', multiple: true },
      jobs: { type: 'string', default: '2' },
      log: { type: 'string' },
      line: { type: 'string' },
      live: { type: 'boolean' },
      print: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  process.on('exit', killAll)
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      stopping.abort()
      killAll()
    })
  const collector = values.live ? await startReference(['pmcd', 'sample']) : undefined
  try {
    return await work(values, collector?.host, stopping.signal)
  } finally {
    await collector?.stop()
  }
}

/** Values of the options. */
interface Wanted {
  readonly seed?: string | undefined
  readonly count: string
  readonly tool?: string[] | undefined
  readonly jobs: string
  readonly log?: string | undefined
  readonly line?: string | undefined
  readonly print?: boolean | undefined
}

async function work(values: Wanted, host: string | undefined, signal: AbortSignal): Promise<number> {
  const run = (line: Line): Promise<Both> => runBoth(line, host)
  if (values.line !== undefined) return repeat(values.line, run)
  const seed = values.seed === undefined ? seedOfDay : Number(values.seed)
  const live = host === undefined ? undefined : await liveFacts(host)
  const generator = await LineGenerator.create(values.tool, live)
  const count = Number(values.count)
  if (values.print) {
    const { Random } = await import('../random.ts')
    for (let i = 0; i < count; i++) console.log(lineText(generator.line(new Random(seed * 1_000_003 + i))))
    return 0
  }
  const began = performance.now()
  const onCause = (cause: Cause): void => {
    if (values.log !== undefined && cause.count === 1) appendFileSync(values.log, `${causeText(cause)}\n`)
  }
  const tally = await search(generator, {
    seed,
    count,
    jobs: Number(values.jobs),
    signal,
    onCause,
    run,
  })
  report(tally, seed, (performance.now() - began) / 1000)
  return signal.aborted ? 130 : 0
}

function causeText({ count, line, difference, signature }: Cause): string {
  return [
    `${count} x ${signature}`,
    `  ${lineText(line)}`,
    `  ours:   ${difference.ours}`,
    `  theirs: ${difference.theirs}`,
  ].join('\n')
}

function report(tally: Tally, seed: number, seconds: number): void {
  const causes = [...tally.causes.values()].sort((a, b) => b.count - a.count)
  for (const cause of causes) console.log(causeText(cause))
  for (const [reason, times] of tally.excused) console.log(`${times} x deliberate: ${reason}`)
  const differing = causes.reduce((sum, { count }) => sum + count, 0)
  console.log(
    `seed ${seed}: ${tally.lines} lines in ${Math.round(seconds)} s, ${differing} differ by ${causes.length} causes, ${tally.undecided} not finished`,
  )
}

async function repeat(text: string, run: (line: Line) => Promise<Both>): Promise<number> {
  const line = parseLine(text, await tablesOf(text.split(/\s+/)))
  const both = await run(line)
  const difference = differenceOf(both)
  for (const [name, done] of Object.entries(both))
    console.log(`== ${name}: status ${done.status}\n${done.stdout}${done.stderr}${done.files}`)
  if (difference === undefined) console.log('== no difference')
  else
    console.log(
      `== ${difference.signature}\n== excuse: ${knownDifference(nameOf(line), line, both, difference) ?? 'none'}`,
    )
  return difference === undefined ? 0 : 1
}
