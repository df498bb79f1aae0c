/**
 * Makes a Debian package: `npm run package:deb -- [--out DIR] [--with-node] [--node FILE] [--node-license FILE]`. Without Node in it,
 * the package needs nodejs 20.19, which Debian has since 13. Needs a build, but no program of Debian. docs/developing/releasing.md
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { top } from '../lib/run.mjs'
import { fail, nodeToShip, packageFiles, version } from './contents.mjs'
import { ar, tar } from './tar.mjs'

const HOME = 'usr/lib/pcp-ts'
const DOC = 'usr/share/doc/pcp-ts'
const MAN = 'usr/share/man/man1'
const MAINTAINER = 'pcp-ts maintainers <maintainers@pcp-ts.invalid>'
const SITE = 'https://www.npmjs.com/package/pcp-ts'
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }
const SHEBANG = '#!/usr/bin/env node\n'
/** Same time for all files, unless the caller has one: 1985-10-26, as npm has. */
const SECONDS = Number(process.env.SOURCE_DATE_EPOCH ?? 499162500)

/** Removes the service, whose units name files of this package, with the package; an upgrade keeps it. */
const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -e "$DPKG_ROOT/etc/systemd/system/pcp-ts.service" ]; then
  pcp-ts service uninstall --system || echo "pcp-ts: remove /etc/systemd/system/pcp-ts.service by hand" >&2
fi
`

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    'with-node': { type: 'boolean' },
    node: { type: 'string' },
    'node-license': { type: 'string' },
  },
})
const node = values['with-node'] ? nodeToShip(values.node, values['node-license']) : undefined
const architecture = node === undefined ? 'all' : ARCHITECTURES[node.arch]
if (architecture === undefined || (node !== undefined && node.platform !== 'linux'))
  fail(
    `package:deb has no name for ${node.platform} ${node.arch}; it knows ${Object.keys(ARCHITECTURES).join(', ')}`,
  )

const entries = [...withFolders(contents())]
const out = join(resolve(values.out ?? top), `pcp-ts_${version()}_${architecture}.deb`)
mkdirSync(resolve(values.out ?? top), { recursive: true })
writeFileSync(
  out,
  ar(
    {
      'debian-binary': Buffer.from('2.0\n'),
      'control.tar.gz': gzip(tar(control(), SECONDS)),
      'data.tar.gz': gzip(tar(entries, SECONDS)),
    },
    SECONDS,
  ),
)
console.log(`${out}: ${statSync(out).size} bytes, ${sizeOf(entries)} installed`)

/** Returns the installed files. Nothing has the name of a file of Debian's packages of PCP. */
function contents() {
  const interpreter = node === undefined ? '/usr/bin/node' : `/${HOME}/node`
  const files = packageFiles().flatMap((file) => placesOf(file, interpreter))
  const text = (path, words) => ({ path, mode: 0o644, contents: Buffer.from(words) })
  return [
    ...files,
    { path: 'usr/bin/pcp-ts', mode: 0o777, link: '../lib/pcp-ts/bin/pcp-ts' },
    text(`${DOC}/copyright`, copyright()),
    { path: `${DOC}/changelog.gz`, mode: 0o644, contents: gzip(changelog()) },
    ...(node === undefined ? [] : nodeFiles()),
  ]
}

function nodeFiles() {
  return [
    { path: `${HOME}/node`, mode: 0o755, contents: readFileSync(node.path) },
    { path: `${DOC}/node-license.gz`, mode: 0o644, contents: gzip(node.license) },
  ]
}

/** Returns where a file of npm's package is installed. */
function placesOf({ path, mode, contents }, interpreter) {
  const at = (place, bytes = contents) => [{ path: place, mode, contents: bytes }]
  // In the file copyright, and the changelog in Debian's place.
  if (/^(?:LICENSE|NOTICE|CHANGELOG\.md)$/.test(path)) return []
  if (/^(?:docs\/|README\.md$)/.test(path)) return at(`${DOC}/${path}`)
  // The other pages have the names of PCP's: `pcp-ts man NAME` shows them.
  const [, page] = /^dist\/man\/man1\/(pcp-ts(?:-[\w-]+)?\.1)$/.exec(path) ?? []
  const shown = page === undefined ? [] : [{ path: `${MAN}/${page}.gz`, mode, contents: gzip(contents) }]
  if (path === 'dist/completion/bash/pcp-ts') return at('usr/share/bash-completion/completions/pcp-ts')
  if (path === 'dist/completion/fish/pcp-ts.fish')
    return at('usr/share/fish/vendor_completions.d/pcp-ts.fish')
  if (path === 'dist/completion/zsh/_pcp-ts') return at('usr/share/zsh/vendor-completions/_pcp-ts')
  const text = /^bin\/[^/]+$/.test(path) ? contents.toString('utf8') : ''
  const isProgram = text.startsWith(SHEBANG)
  const bytes = isProgram ? Buffer.from(`#!${interpreter}\n${text.slice(SHEBANG.length)}`) : contents
  return [...at(`${HOME}/${path}`, bytes), ...shown]
}

/** Adds the directories of files; sorted, so that a directory precedes its files. */
function withFolders(files) {
  const folders = new Set()
  for (const { path } of files)
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1))
      folders.add(path.slice(0, end + 1))
  const all = [...files, ...[...folders].map((path) => ({ path, mode: 0o755 }))]
  return all
    .map((entry) => ({ ...entry, path: `./${entry.path}` }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function control() {
  const depends = node === undefined ? 'nodejs (>= 20.19)' : 'libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 9)'
  const fields = [
    'Package: pcp-ts',
    `Version: ${version()}`,
    'Section: utils',
    'Priority: optional',
    `Architecture: ${architecture}`,
    `Depends: ${depends}`,
    `Installed-Size: ${Math.ceil(sizeOf(entries) / 1024)}`,
    `Maintainer: ${MAINTAINER}`,
    `Homepage: ${SITE}`,
    'Description: Performance Co-Pilot in TypeScript',
    ' Collector, agents, recorder, web server with charts, and the commands of',
    ' Performance Co-Pilot, behind the command pcp-ts. It can be installed beside',
    ` the packages of PCP.${node === undefined ? '' : ` Contains Node.js ${node.version}.`}`,
  ]
  const sums = entries
    .filter(({ contents }) => contents !== undefined)
    .map(({ path, contents }) => `${createHash('md5').update(contents).digest('hex')}  ${path.slice(2)}\n`)
  const file = (path, mode, text) => ({ path: `./${path}`, mode, contents: Buffer.from(text) })
  return [
    { path: './', mode: 0o755 },
    file('control', 0o644, `${fields.join('\n')}\n`),
    file('md5sums', 0o644, sums.join('')),
    file('prerm', 0o755, PRERM),
  ]
}

function copyright() {
  const read = (name) => readFileSync(join(top, name), 'utf8')
  return [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/',
    'Upstream-Name: pcp-ts',
    `Source: ${SITE}`,
    '',
    'Files: *',
    'Copyright: the authors of pcp-ts, and those listed below',
    'License: Apache-2.0',
    ' On Debian systems, see /usr/share/common-licenses/Apache-2.0.',
    // Listed as a comment: sections of other packages' own words.
    'Comment:',
    ...indented(read('NOTICE')),
    ...indented(read('dist/third-party-notices.txt')),
    ...(node === undefined
      ? []
      : indented(`Node.js ${node.version} is in this package; its license is in node-license.gz.`)),
    '',
  ].join('\n')
}

/** Formats text as lines of a field. */
function indented(text) {
  return text.split('\n').map((line) => (line.trim() === '' ? ' .' : ` ${line}`.trimEnd()))
}

function changelog() {
  const date = new Date(SECONDS * 1000).toUTCString().replace('GMT', '+0000')
  return `pcp-ts (${version()}) unstable; urgency=medium\n\n  * See ${SITE} for the changes.\n\n -- ${MAINTAINER}  ${date}\n`
}

function sizeOf(list) {
  return list.reduce((sum, { contents }) => sum + (contents?.length ?? 0), 0)
}

/** Compresses without a name or time. */
function gzip(data) {
  return gzipSync(data, { level: 9 })
}
