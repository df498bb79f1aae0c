/**
 * Runs a list of the reference's own test suite with our commands in place of the installed ones.
 * `npm run qa LIST [option...]`, LIST one of live, archive, agents, tools; options go to the runner.
 * Needs the runner and the installed reference, as root: PCP_QA names the runner's folder (default ../shared/qa).
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, run, top } from './lib/run.mjs'

const qa = resolve(top, process.env.PCP_QA ?? '../shared/qa')
const [list, ...options] = process.argv.slice(2)
if (list === undefined || !existsSync(join(qa, 'lists', list))) {
  console.error(`usage: npm run qa LIST [option...]   (no list "${list ?? ''}" in ${join(qa, 'lists')})`)
  process.exit(1)
}
build('--bin')
// Agents of ours have texts and rules of their own.
const known = join(
  top,
  'test',
  'interop',
  options.includes('--agents') ? 'known-failures-agents' : 'known-failures',
)
process.exit(
  run(join(qa, 'run'), [
    '--bin',
    join(top, 'bin'),
    '--known',
    known,
    '--list',
    join(qa, 'lists', list),
    ...options,
  ]),
)
