/** Runs commands of the installed package: every one prints its version, some work on an archive and on agents of their own. */
import { match, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createArchive } from 'pcp-ts/archive'

const bin = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', 'pcp-ts', 'bin')
const dir = mkdtempSync(join(tmpdir(), 'matrix-'))

function run(name, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(bin, name), ...args], {
    cwd: dir,
    encoding: 'utf8',
  })
  return { status, text: `${stdout}${stderr}` }
}

/** Runs a command that succeeds without warnings of Node. */
function good(pattern, name, ...args) {
  const { status, text } = run(name, ...args)
  strictEqual(status, 0, `${name} ${args.join(' ')}: ${text}`)
  match(text, pattern)
  strictEqual(/^\(node:\d+\)/m.test(text), false, text)
}

let count = 0
for (const name of readdirSync(bin).filter((file) => /^(?:pm(?!da)|pcp)/.test(file))) {
  const { text } = run(name, '--version')
  strictEqual(/\(node:\d+\)|^\s+at /m.test(text), false, `${name}: ${text}`)
  count++
}
const made = createArchive(join(dir, 'made'), { hostname: 'h', timezone: 'UTC', pid: 1 })
made.addMetric('demo.load', { indom: 'ages' })
for (let i = 0; i < 5; i++) {
  made.put('demo.load', i / 2, '1 minute')
  made.write(new Date(Date.UTC(2026, 0, 1, 0, 0, i)))
}
made.close()
good(/value 0/, 'pminfo', '-f', '-a', 'made', 'demo.load')
good(/1\.5/, 'pmval', '-r', '-t', '1sec', '-a', 'made', 'demo.load')
good(/demo\.load/, 'pmdumplog', 'made')
good(/d\.load/, 'pmrep', '-s', '2', '-t', '1sec', '-a', 'made', 'demo.load')
good(/Usage/, 'pcp-ts', '--help')
console.log(`${count} commands`)
