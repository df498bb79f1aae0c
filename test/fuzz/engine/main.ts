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

const USAGE = `usage: npm run fuzz -- NAME... | --all [--minutes N] [--runs N] [--keep]
       npm run fuzz -- NAME --replay FILE
--minutes is for all names together; PCP_TS_SEED repeats a run; --keep replaces test/fuzz/corpus/NAME.txt with inputs that reach all blocks.`
/** Where inputs that fail are written, for --replay. */
const FINDS_DIRECTORY = '.fuzz'
const MINUTE_MS = 60_000

/** Runs the command; resolves to its exit status. */
export async function main(args: readonly string[], directory: string): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '1' },
      runs: { type: 'string', default: 'Infinity' },
      keep: { type: 'boolean', default: false },
      replay: { type: 'string' },
    },
  })
  const names = values.all ? Object.keys(ENTRIES) : positionals
  const unknown = names.filter((name) => ENTRIES[name] === undefined)
  const [minutes, runs] = [Number(values.minutes), Number(values.runs)]
  if (names.length === 0 || unknown.length > 0 || !(minutes > 0) || !(runs > 0)) {
    for (const name of unknown) console.error(`fuzz: no entry ${name}`)
    console.error(`${USAGE}\nentries: ${Object.keys(ENTRIES).join(', ')}`)
    return 2
  }
  if (values.replay !== undefined) return await replay(names[0]!, values.replay)
  const ms = (minutes * MINUTE_MS) / names.length
  let failed = 0
  for (const name of names) failed += await one(name, { seed, ms, runs, directory, isKept: values.keep })
  if (failed > 0)
    console.log(`npm run fuzz -- NAME --replay FILE repeats a find; it becomes a test in test/fuzz/finds`)
  console.log(`${names.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

interface Order {
  readonly seed: number
  readonly ms: number
  readonly runs: number
  readonly directory: string
  readonly isKept: boolean
}

/** Searches one entry; resolves to 1 if it failed. */
async function one(name: string, { seed, ms, runs, directory, isKept }: Order): Promise<number> {
  const finds: Find[] = []
  const inputs = [...readCorpus(name), ...readFinds(name).values()]
  const thread = new URL('thread.js', directory)
  const onFind = (find: Find): void => {
    finds.push(find)
    console.log(
      `${name}: ${find.title}: ${save(name, find)}\n  ${toLine(find.input).slice(0, 200)}\n  ${find.detail}`,
    )
  }
  const result = await search({ name, seed, inputs, ms, runs, directory, thread, onFind })
  const { executions, seconds, blocks, cover, slowestMs } = result
  const rate = Math.round(executions / seconds)
  const figures = [
    `${blocks} blocks`,
    `${inputs.length} inputs before, ${cover.length} now`,
    `${executions} executions in ${Math.round(seconds)} s (${rate}/s)`,
    `slowest ${Math.round(slowestMs)} ms`,
    `${finds.length} finds`,
  ]
  console.log(`${name}: ${figures.join(', ')}`)
  if (isKept) {
    const seeds = new Set((await ENTRIES[name]!()).seeds().map(toLine))
    writeCorpus(
      name,
      cover.filter((input) => !seeds.has(toLine(input))),
    )
  }
  return finds.length > 0 ? 1 : 0
}

function save(name: string, { input }: Find): string {
  mkdirSync(FINDS_DIRECTORY, { recursive: true })
  const file = join(
    FINDS_DIRECTORY,
    `${name}.${createHash('sha256').update(input).digest('hex').slice(0, 8)}`,
  )
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
