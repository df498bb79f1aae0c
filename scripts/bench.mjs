/** Runs a benchmark: `npm run bench -- NAME [option...]`; without a name it lists them. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, must, top } from './lib/run.mjs'

const [name, ...options] = process.argv.slice(2)
const macro = join(top, 'bench', 'macro')
const file = join(macro, `${name}.mjs`)
if (name === undefined || !existsSync(file)) {
  const names = readdirSync(macro).filter((entry) => entry.endsWith('.mjs') && !entry.startsWith('lib'))
  console.error(`usage: npm run bench -- NAME [option...], NAME one of: ${names.map((entry) => entry.slice(0, -4)).join(' ')}`)
  process.exit(1)
}
build('--bin')
must(process.execPath, [file, ...options])
