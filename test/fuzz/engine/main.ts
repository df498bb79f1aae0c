/** The command behind `npm run fuzz`. CONTRIBUTING.md: Fuzzing */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seed } from '../../lib/seed.ts'
import { ENTRIES } from '../entries.ts'
import { failureOf } from './attempt.ts'
import { readCorpus, readFinds, toLine, writeCorpus } from './corpus.ts'
import type { Find } from './fuzzer.ts'
import { search } from './search.ts'

const USAGE = `usage: npm run fuzz -- NAME... | --all [--minutes N] [--runs N] [--keep] [--explore]
       npm run fuzz -- NAME --replay FILE
--minutes is for all names together; --first ends at the first find, --hang SECONDS is what an input may take, --finds DIR where those that fail are written;
PCP_TS_SEED repeats a run; with --explore finds are printed and written, and the command succeeds; --keep replaces test/fuzz/corpus/NAME.txt with inputs that reach all blocks.`
const MINUTE_MS = 60_000
/** Distinct finds after which a search ends: more are noise. */
const MAX_FINDS = 20

/** Runs the command; resolves to its exit status. */
export async function main(args: readonly string[], directory: string): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '1' },
      runs: { type: 'string', default: 'Infinity' },
      hang: { type: 'string', default: '15' },
      finds: { type: 'string', default: '.fuzz' },
      first: { type: 'boolean', default: false },
      explore: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      replay: { type: 'string' },
    },
  })
  const names = values.all ? Object.keys(ENTRIES) : positionals
  const unknown = names.filter((name) => ENTRIES[name] === undefined)
  const numbers = [values.minutes, values.runs, values.hang].map(Number) as [number, number, number]
  if (names.length === 0 || unknown.length > 0 || !numbers.every((number) => number > 0)) {
    for (const name of unknown) console.error(`fuzz: no entry ${name}`)
    console.error(`${USAGE}\nentries: ${Object.keys(ENTRIES).join(', ')}`)
    return 2
  }
  if (values.replay !== undefined) return await replay(names[0]!, values.replay)
  const [minutes, runs, hang] = numbers
  const until = Date.now() + minutes * MINUTE_MS
  const { keep: isKept, finds } = values
  const most = values.first ? 1 : MAX_FINDS
  let failed = 0
  for (const [i, name] of names.entries()) {
    const ms = (until - Date.now()) / (names.length - i)
    failed += await one(name, { ms, runs, most, hangMs: hang * 1000, directory, finds, isKept })
  }
  if (failed > 0)
    console.log(`npm run fuzz -- NAME --replay FILE repeats a find; it becomes a test in test/fuzz/finds`)
  if (!values.explore) {
    console.log(`${names.length - failed} passed, ${failed} failed`)
    return failed === 0 ? 0 : 1
  }
  if (failed > 0) console.log(`FINDS in ${failed} of ${names.length} entries: they are to be mended`)
  console.log(`${names.length} passed, 0 failed`)
  return 0
}

interface Order {
  readonly ms: number
  readonly runs: number
  readonly most: number
  readonly hangMs: number
  readonly finds: string
  readonly directory: string
  readonly isKept: boolean
}

/** Searches one entry; resolves to 1 if it failed. */
async function one(name: string, order: Order): Promise<number> {
  const { directory, isKept } = order
  const found: Find[] = []
  const inputs = [...readCorpus(name), ...readFinds(name).values()]
  const thread = new URL('thread.js', directory)
  const onFind = (find: Find): void => {
    found.push(find)
    console.log(
      `${name}: ${find.title}: ${save(order.finds, name, find)}\n  ${toLine(find.input).slice(0, 200)}\n  ${find.detail}`,
    )
  }
  const result = await search({ ...order, name, seed, inputs, thread, onFind })
  const { executions, seconds, blocks, cover, slowestMs } = result
  const rate = Math.round(executions / seconds)
  const figures = [
    `${blocks} blocks`,
    `${inputs.length} inputs before, ${cover.length} now`,
    `${executions} executions in ${Math.round(seconds)} s (${rate}/s)`,
    `slowest ${Math.round(slowestMs)} ms`,
    `${found.length} finds`,
  ]
  console.log(`${name}: ${figures.join(', ')}`)
  if (!result.isComplete) console.log(`${name}: there was no time for the whole corpus`)
  if (isKept && result.isComplete) {
    const seeds = new Set((await ENTRIES[name]!()).seeds().map(toLine))
    writeCorpus(
      name,
      cover.filter((input) => !seeds.has(toLine(input))),
    )
  }
  return found.length > 0 ? 1 : 0
}

function save(directory: string, name: string, { input }: Find): string {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, `${name}.${createHash('sha256').update(input).digest('hex').slice(0, 8)}`)
  writeFileSync(file, input)
  return file
}

async function replay(name: string, file: string): Promise<number> {
  const entry = await ENTRIES[name]!()
  const error = await failureOf(entry, new Uint8Array(readFileSync(file)))
  await entry.close?.()
  console.log(error === undefined ? `${name}: nothing failed` : error.stack)
  return error === undefined ? 0 : 1
}
