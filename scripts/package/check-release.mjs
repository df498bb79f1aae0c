/**
 * Checks that a tag may be released: `node scripts/package/check-release.mjs vX.Y.Z`. The manifest, the lock file, the sources and the
 * changelog must have its version.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { top } from '../lib/run.mjs'

const [tag = ''] = process.argv.slice(2)
const read = (name) => readFileSync(join(top, name), 'utf8')
const wanted = tag.replace(/^v/, '')
const found = {
  'package.json': JSON.parse(read('package.json')).version,
  'package-lock.json': JSON.parse(read('package-lock.json')).version,
  'src/base/version.ts': /VERSION = '([^']+)'/.exec(read('src/base/version.ts'))?.[1],
  'CHANGELOG.md': read('CHANGELOG.md').includes(`\n## [${wanted}]`) ? wanted : 'no section of this version',
}
const wrong = Object.entries(found).filter(([, version]) => version !== wanted)
for (const [name, version] of wrong) console.error(`${name} has ${version}, the tag is ${tag || 'missing'}`)
process.exit(wrong.length === 0 && tag.startsWith('v') ? 0 : 1)
