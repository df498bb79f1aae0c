/** Prepares `npm pack`: builds everything, and sets file modes, which npm packs as they are, so that the umask makes no difference. */
import { chmodSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, must, top } from './lib/run.mjs'

process.umask(0o022)
build()
must(process.execPath, [join(top, 'scripts', 'gen-api.mjs')])
const { files } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
for (const name of ['package.json', ...files.filter((pattern) => !pattern.startsWith('!'))])
  setModes(join(top, name))

/** Makes a file, or everything in a directory, readable by all and writable by its owner. */
function setModes(path) {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return
  chmodSync(path, stat.isDirectory() || (stat.mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (stat.isDirectory()) for (const name of readdirSync(path)) setModes(join(path, name))
}
