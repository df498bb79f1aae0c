/** -r and -R: a damaged file is cut behind its last good record. */
import { truncateSync } from 'node:fs'
import type { Check } from './check.ts'
import type { FileReport } from './pass0.ts'

/** Cuts a file where that is wanted, possible and agreed to. Says whether it is sound now. */
export async function repairFile(check: Check, { file, goodEnd, size }: FileReport): Promise<boolean> {
  const { wanted, io } = check
  if (wanted.repair === undefined || goodEnd === undefined) return false
  if (file.isCompressed) {
    check.say(`${file.path}: compressed, cannot be repaired`)
    return false
  }
  if (wanted.repair === 'ask' && !(await agrees(check, file.path))) return false
  try {
    truncateSync(file.path, goodEnd)
  } catch (error) {
    check.say(`${io.progname}: ${file.path}: ${(error as Error).message}`)
    return false
  }
  check.say(`Info: ${file.path}: truncated from ${size} to ${goodEnd} bytes`)
  return true
}

async function agrees({ io }: Check, path: string): Promise<boolean> {
  const answers = lines(io.stdin)
  for (;;) {
    io.stdout.write(`${path}: Truncate? [yes|no] `)
    await io.stdout.flush()
    const { value, done } = await answers.next()
    if (done === true || value === 'no') return false
    if (value === 'yes') return true
    io.stdout.write('Please answer the question, yes or no\n')
  }
}

async function* lines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const part of input) {
    const texts = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = texts.pop()!
    for (const text of texts) yield text.trim()
  }
  if (rest !== '') yield rest.trim()
}
