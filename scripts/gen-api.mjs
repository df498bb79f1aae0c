/**
 * dist/api: the reference of each entry point, from the declarations and doc comments of its sources. A page an entry point,
 * a part an export: what is said of it, and its declaration as TypeScript has it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageBin, top } from './lib/run.mjs'

/** Entry points: name to declaration file below the output of the compiler. */
const ENTRIES = {
  'pcp-ts/pmapi': 'pmapi/index.d.ts',
  'pcp-ts/local': 'local.d.ts',
  'pcp-ts/pmda': 'pmda/index.d.ts',
  'pcp-ts/archive': 'archive.d.ts',
  'pcp-ts/derive': 'derive.d.ts',
  'pcp-ts/mmv': 'mmv/index.d.ts',
  'pcp-ts/node': 'node/index.d.ts',
}

/** Names that a declaration file exports from others: name to file, and '*' for all of a file. */
function exportsOf(text, file) {
  const found = []
  const pattern = /export (?:type )?(?:\{([^}]*)\}|(\*)) from '([^']+)'/g
  for (const [, list, star, from] of text.matchAll(pattern)) {
    const target = normalize(join(dirname(file), from.replace(/\.[jt]s$/, '.d.ts')))
    if (star) found.push({ name: '*', as: '*', file: target })
    for (const item of (list ?? '').replace(/\/\*.*?\*\/|\/\/.*$/gms, '').split(',')) {
      const [name, as = name] = item
        .trim()
        .replace(/^type /, '')
        .split(/ as /)
      if (name) found.push({ name, as, file: target })
    }
  }
  return found
}

/** Top level declarations of a file: name, doc comment and text. */
export function declarationsIn(text) {
  const found = []
  const pattern =
    /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^export (?:declare )?(?:abstract )?(function|const|class|interface|type) (\w+)/gm
  for (const match of text.matchAll(pattern)) {
    const [all, comment = '', , name] = match
    const start = match.index + all.indexOf('export ', all.indexOf('*/') + 1)
    found.push({ name, comment, text: declarationAt(text, start) })
  }
  return found
}

/** From `export` to the end: the bracket that closes the declaration, or the end of its line. */
function declarationAt(text, start) {
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const char = text[i]
    if (text.startsWith('/*', i)) i = text.indexOf('*/', i) + 1
    else if ('{(['.includes(char)) depth++
    else if ('})]'.includes(char)) depth--
    if (depth > 0) continue
    const isEnd = char === ';' || (char === '}' && text[i + 1] === '\n')
    if (isEnd) return text.slice(start, i + 1)
  }
  return text.slice(start)
}

/** A doc comment without its frame: text, examples as code, C functions as such. */
export function commentText(comment) {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
  const text = lines.join('\n').trim()
  const example = /@example\n([\s\S]*?)(?=\n@|\n\n@|$)/.exec(text)?.[1]
  const plain = text
    .replace(/@example\n[\s\S]*?(?=\n@|$)/, '')
    .replace(/@see ([^\n]+)/g, 'C: $1.')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return example === undefined ? plain : `${plain}\n\n\`\`\`ts\n${example.trim()}\n\`\`\``
}

/** What members say of themselves stays in the declaration; private ones go. */
function shown(text) {
  return text
    .replace(/^export (?:declare )?/, '')
    .replace(/^\s*#private;\n/m, '')
    .replace(/(?:\n\s*\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\n\s*private [^\n]*/g, '')
}

function page(entry, out, silent) {
  const file = ENTRIES[entry]
  const parts = []
  const seen = new Set()
  const add = (declaration, as) => {
    if (seen.has(as)) return
    seen.add(as)
    parts.push({ as, ...declaration })
  }
  const visit = (path) => {
    const text = readFileSync(join(out, path), 'utf8')
    for (const declaration of declarationsIn(text)) add(declaration, declaration.name)
    for (const { name, as, file: target } of exportsOf(text, path)) {
      if (name === '*') {
        visit(target)
        continue
      }
      const declarations = declarationsIn(readFileSync(join(out, target), 'utf8'))
      const declaration = declarations.find((each) => each.name === name)
      if (declaration !== undefined) add(declaration, as)
    }
  }
  visit(file)
  silent.push(...parts.filter(({ comment }) => comment.trim() === '').map(({ as }) => `${entry}: ${as}`))
  parts.sort((a, b) => (a.as.toLowerCase() < b.as.toLowerCase() ? -1 : 1))
  const body = parts.map(
    ({ as, comment, text }) => `## ${as}\n\n${commentText(comment)}\n\n\`\`\`ts\n${shown(text)}\n\`\`\`\n`,
  )
  return `# ${entry}\n\nMade from the sources by \`npm run docs\`: ${parts.length} exports.\n\n${body.join('\n')}`
}

/** Writes dist/api; returns the exports that say nothing of themselves. */
export function generateApi() {
  const silent = []
  const out = mkdtempSync(join(tmpdir(), 'pcp-ts-api-'))
  try {
    const tsc = spawnSync(packageBin('tsc'), ['-p', 'tsconfig.build.json', '--outDir', out], {
      cwd: top,
      stdio: 'inherit',
    })
    if (tsc.status !== 0) process.exit(1)
    const dir = join(top, 'dist', 'api')
    rmSync(dir, { recursive: true, force: true })
    mkdirSync(dir, { recursive: true })
    const pages = []
    for (const [entry, file] of Object.entries(ENTRIES)) {
      if (!existsSync(join(out, file))) continue
      const name = `${entry.replace('pcp-ts/', '')}.md`
      const text = page(entry, out, silent)
      writeFileSync(join(dir, name), text)
      pages.push(`* [${entry}](${name})`)
    }
    writeFileSync(
      join(dir, 'README.md'),
      `# API reference\n\n${pages.join('\n')}\n\n\`pcp-ts\` has \`pcp-ts/pmapi\` and \`pcp-ts/pmda\` together.\n`,
    )
    return silent
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of generateApi()) console.error(`${name} has no doc comment`)
}
