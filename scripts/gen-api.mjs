/**
 * Generates dist/api, the reference of each entry point, from the declarations and doc comments of its sources. A page has the exports of one
 * entry point by kind, each with its text, its declaration and links to the types in it. Members of classes have a part each, those
 * of base classes that are not exported too.
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
const PURPOSES = {
  'pcp-ts/pmapi': 'read metrics from a collector or an archive',
  'pcp-ts/local': 'read metrics of this machine without a collector',
  'pcp-ts/pmda': 'define agents and run them',
  'pcp-ts/archive': 'read, scan, write and import archives',
  'pcp-ts/derive': 'compute metrics from others',
  'pcp-ts/mmv': "publish an application's own metrics",
  'pcp-ts/node': 'publish metrics of a Node.js process',
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
    const [all, comment = '', kind, name] = match
    const start = match.index + all.indexOf('export ', all.indexOf('*/') + 1)
    found.push({ name, kind, comment, text: declarationAt(text, start) })
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

/** A declaration without `export` and without private members. */
function shown(text) {
  return text
    .replace(/^export (?:declare )?/, '')
    .replace(/^\s*#private;\n/m, '')
    .replace(/(?:\n\s*\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\n\s*private [^\n]*/g, '')
}

/** Members of a class: name, doc comment and signature. Overloads are members of the same name. */
export function membersOf(text) {
  const found = []
  const body = text.slice(text.indexOf('{') + 1, text.lastIndexOf('}'))
  const pattern = /\s*(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/)?\s*([^\s][\s\S]*)/y
  let rest = body
  while (rest.trim() !== '') {
    pattern.lastIndex = 0
    const [, comment = '', declaration] = pattern.exec(rest)
    const end = endOfMember(declaration)
    const signature = declaration.slice(0, end).replace(/^ {4}/gm, '')
    rest = declaration.slice(end + 1)
    if (/^(?:#private|private |protected )/.test(signature)) continue
    const name = /^(?:(?:static|readonly|abstract|get|set|async) )*(\[[^\]]*\]|\w+)/.exec(signature)[1]
    found.push({ name, comment, text: `${signature};` })
  }
  return found
}

/** Where the semicolon of a member is. */
function endOfMember(text) {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    if (text.startsWith('/*', i)) i = text.indexOf('*/', i) + 1
    else if ('{(['.includes(text[i])) depth++
    else if ('})]'.includes(text[i])) depth--
    else if (text[i] === ';' && depth === 0) return i
  }
  return text.length
}

/** Declarations below the compiler's output. */
class Declarations {
  #out
  #files = new Map()

  constructor(out) {
    this.#out = out
  }

  has(file) {
    return existsSync(join(this.#out, file))
  }

  /** What a file declares. */
  in(file) {
    if (!this.#files.has(file))
      this.#files.set(
        file,
        declarationsIn(this.#textOf(file)).map((one) => ({ ...one, file })),
      )
    return this.#files.get(file)
  }

  /** Everything that a file exports: declarations with the name `as` which they are exported. */
  exportedBy(file) {
    const all = this.in(file).map((one) => ({ ...one, as: one.name }))
    for (const { name, as, file: target } of exportsOf(this.#textOf(file), file)) {
      if (name === '*') all.push(...this.exportedBy(target))
      else {
        const found = this.in(target).find((one) => one.name === name)
        if (found !== undefined) all.push({ ...found, as })
      }
    }
    return all.filter(({ as }, i) => all.findIndex((one) => one.as === as) === i)
  }

  /** The declaration of the class that a class extends; undefined if it is not ours. */
  baseOf({ text, file }) {
    const name = /^export (?:declare )?(?:abstract )?class \w+(?:<[^{]*?>)? extends (\w+)/.exec(text)?.[1]
    if (name === undefined) return undefined
    const from = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']+)'`).exec(
      this.#textOf(file),
    )?.[1]
    const target =
      from === undefined ? file : normalize(join(dirname(file), from.replace(/\.[jt]s$/, '.d.ts')))
    return this.has(target) ? this.in(target).find((one) => one.name === name) : undefined
  }

  #textOf(file) {
    return readFileSync(join(this.#out, file), 'utf8')
  }
}

const KINDS = [
  ['Functions', ['function']],
  ['Classes', ['class']],
  ['Types', ['interface', 'type']],
  ['Constants', ['const']],
]

/** Writes the page of an entry point. `pages` are all pages with their exports: types of others are linked too. */
function page(entry, pages, declarations) {
  const parts = pages.get(entry)
  const links = (text, self) => {
    const names = new Set(text.replace(/\/\*[\s\S]*?\*\//g, '').match(/\b[A-Z]\w+/g))
    const known = [...names].sort().flatMap((name) => {
      const owner =
        name === self ? undefined : [entry, ...pages.keys()].find((one) => typesOf(pages.get(one)).has(name))
      if (owner === undefined) return []
      return [`[${name}](${owner === entry ? '' : fileOf(owner)}#${name.toLowerCase()})`]
    })
    return known.length === 0 ? '' : `\nTypes: ${known.join(', ')}\n`
  }
  const code = (text) => `\`\`\`ts\n${text}\n\`\`\`\n`
  const asClass = (one) => {
    const [head] = shown(one.text).split('{')
    const chain = []
    for (
      let at = one;
      at !== undefined && (at === one || !typesOf(parts).has(at.name));
      at = declarations.baseOf(at)
    )
      chain.push(at)
    const members = chain.flatMap(({ text }) => membersOf(text))
    const byName = new Map()
    for (const member of members) byName.set(member.name, [...(byName.get(member.name) ?? []), member])
    const each = [...byName].map(([name, same]) => {
      const texts = same.map(
        ({ comment, text }) => `${code(text)}${comment === '' ? '' : `\n${commentText(comment)}\n`}`,
      )
      return `#### ${one.as}${name.startsWith('[') ? name : `.${name}`}\n\n${texts.join('\n')}${links(same.map(({ text }) => text).join('\n'), one.name)}`
    })
    return `${code(`${head.trim().replace(/ extends (\w+)$/, (all, base) => (chain.some(({ name }) => name === base) ? '' : all))} { … }`)}\n${each.join('\n')}`
  }
  const asPart = (one) =>
    `### ${one.as}\n\n${commentText(one.comment)}\n\n${one.kind === 'class' ? asClass(one) : `${code(shown(one.text))}${links(one.text, one.name)}`}`
  const asRow = ({ as, comment, text }) => {
    const type = shown(text)
      .replace(/^const \w+ ?(?:: |= )/, '')
      .replace(/;$/, '')
    return `| <a id="${as.toLowerCase()}"></a>\`${as}\` | \`${inCell(type)}\` | ${inCell(commentText(comment))} |`
  }
  const sections = KINDS.flatMap(([title, kinds]) => {
    const own = parts.filter(({ kind }) => kinds.includes(kind))
    if (own.length === 0) return []
    if (title === 'Constants')
      return [`## Constants\n\n| Name | Value or type | |\n|---|---|---|\n${own.map(asRow).join('\n')}\n`]
    return [`## ${title}\n\n${own.map(asPart).join('\n')}`]
  })
  return `# ${entry}\n\nGenerated from the sources: ${parts.length} exports.\n\n${sections.join('\n')}`
}

const inCell = (text) => text.replace(/\s+/g, ' ').replace(/\|/g, '\\|')
const typesOf = (parts) =>
  new Set(parts.filter(({ kind }) => kind !== 'const' && kind !== 'function').map(({ as }) => as))
const fileOf = (entry) => `${entry.replace('pcp-ts/', '')}.md`

/** Returns the pages by file name, and the exports without a doc comment. */
export function apiPages() {
  const out = mkdtempSync(join(tmpdir(), 'pcp-ts-api-'))
  try {
    const tsc = spawnSync(packageBin('tsc'), ['-p', 'tsconfig.build.json', '--outDir', out], {
      cwd: top,
      stdio: 'inherit',
    })
    if (tsc.status !== 0) process.exit(1)
    const declarations = new Declarations(out)
    const exported = new Map()
    for (const [entry, file] of Object.entries(ENTRIES))
      exported.set(
        entry,
        declarations.exportedBy(file).sort((a, b) => (a.as.toLowerCase() < b.as.toLowerCase() ? -1 : 1)),
      )
    const undocumented = [...exported].flatMap(([entry, parts]) =>
      parts.filter(({ comment }) => comment.trim() === '').map(({ as }) => `${entry}: ${as}`),
    )
    const pages = new Map(
      [...exported.keys()].map((entry) => [fileOf(entry), page(entry, exported, declarations)]),
    )
    const rows = [...exported].map(
      ([entry, parts]) => `| [${entry}](${fileOf(entry)}) | ${PURPOSES[entry]} | ${parts.length} |`,
    )
    const list = `# API reference\n\n| Entry point | | Exports |\n|---|---|---|\n${rows.join('\n')}\n\n\`pcp-ts\` has \`pcp-ts/pmapi\` and \`pcp-ts/pmda\` together.\n`
    return { pages: new Map([['README.md', list], ...pages]), undocumented }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** Writes dist/api; returns the exports without a doc comment. */
export function generateApi() {
  const { pages, undocumented } = apiPages()
  const dir = join(top, 'dist', 'api')
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  for (const [name, text] of pages) writeFileSync(join(dir, name), text)
  return undocumented
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of generateApi()) console.error(`${name} has no doc comment`)
}
