/** The files of the package: which are in it, their modes, and that nothing of this machine is. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, test } from 'vitest'

const top = process.cwd()
/** Limits in bytes: packed, unpacked. */
const MOST_PACKED = 4_000_000
const MOST_UNPACKED = 12_000_000
/** All that may be in the package. */
const EXPECTED: readonly RegExp[] = [
  /^(?:CHANGELOG|README)\.md$/,
  /^(?:LICENSE|NOTICE|package\.json)$/,
  /^bin\/[\w.-]+$/,
  /^bin\/parts\/[\w-]+\.(?:cjs|pack\.js)$/,
  /^dist\/api\/[\w-]+\.md$/,
  /^dist\/(?:cjs|esm)\/[\w-]+\.js$/,
  /^dist\/(?:cjs|types-cjs)\/package\.json$/,
  /^dist\/completion\/(?:bash\/pcp-ts|fish\/pcp-ts\.fish|zsh\/_pcp-ts)$/,
  /^dist\/man\/man1\/[\w.-]+\.1$/,
  /^dist\/(?:sbom\.cdx\.json|third-party-notices\.txt)$/,
  /^dist\/types(?:-cjs)?\/(?:[\w-]+\/)*[\w-]+\.d\.ts$/,
  /^docs\/(?:[\w-]+\/)*[\w-]+\.(?:md|json)$/,
  /^share\/(?:cron|dstat|pmlogger|pmrep|systemd)\/[\w.-]+$/,
  /^share\/rc_\w+$/,
  /^share\/web\/(?:(?:index|incident)\.html|assets\/[\w-]+\.(?:js|css|svg))$/,
  /^share\/web\/(?:index\.html|assets\/[\w-]+\.(?:js|css))\.(?:br|gz)$/,
]
/** Texts that a key or a token contains. */
const SECRET =
  /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\n[A-Za-z0-9+/=]{40}|\bnpm_[A-Za-z0-9]{36}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|_authToken=\S/
const SHEBANG = '#!'

interface Packed {
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { path: string; size: number; mode: number }[]
}
interface Manifest {
  readonly version: string
  readonly bin: Readonly<Record<string, string>>
  readonly man?: string | readonly string[]
  readonly exports: unknown
  readonly optionalDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as Manifest
const textOf = (path: string): string => readFileSync(join(top, path), 'latin1')
let packed: Packed
let paths: readonly string[]

beforeAll(() => {
  const env = { ...process.env }
  delete env['NODE_EXTRA_CA_CERTS']
  const args = ['pack', '--json', '--dry-run', '--ignore-scripts']
  const options = { cwd: top, env, encoding: 'utf8', maxBuffer: 2 ** 24 } as const
  packed = (JSON.parse(execFileSync('npm', args, options)) as [Packed])[0]
  paths = packed.files.map(({ path }) => path)
})

test('has only what its users need', () => {
  expect(paths.filter((path) => !EXPECTED.some((pattern) => pattern.test(path)))).toEqual([])
  const missing = EXPECTED.filter((pattern) => !paths.some((path) => pattern.test(path)))
  // The reference of the library is only made for a release.
  expect(missing.filter((pattern) => !pattern.source.includes('api'))).toEqual([])
})

test('is small', () => {
  console.log(`${packed.size} bytes packed, ${packed.unpackedSize} in ${packed.files.length} files`)
  expect(packed.size).toBeLessThan(MOST_PACKED)
  expect(packed.unpackedSize).toBeLessThan(MOST_UNPACKED)
})

test('has every file that its manifest names', () => {
  const named = [
    ...Object.values(manifest.bin),
    ...[manifest.man ?? []].flat(),
    ...targets(manifest.exports).map((path) => path.replace(/^\.\//, '')),
  ].map((path) => path.replace(/^\.\//, ''))
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((path) => !paths.includes(path))).toEqual([])
})

test('has modes that let everyone read, only the owner write, and run only programs', () => {
  const wrong = packed.files.filter(({ path, mode }) => {
    // Outside of a release, the umask of the checkout decides about others.
    const isRun = (mode & 0o100) !== 0
    return (mode & 0o400) === 0 || (mode & 0o002) !== 0 || isRun !== textOf(path).startsWith(SHEBANG)
  })
  expect(wrong).toEqual([])
})

test('names no directory of this machine, and has no secrets', () => {
  const places = [top, homedir()].filter((place) => place.split('/').length > 2)
  const found = paths.filter((path) => {
    const text = textOf(path)
    return SECRET.test(text) || places.some((place) => text.includes(`${place}/`))
  })
  expect(found).toEqual([])
})

describe('the bill of materials', () => {
  const read = (): Bom => JSON.parse(readFileSync(join(top, 'dist/sbom.cdx.json'), 'utf8')) as Bom

  test('is valid CycloneDX', () => {
    const validate = cycloneDx()
    expect(validate(read()), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ ...read(), bomFormat: 'other' })).toBe(false)
    expect(validate({ ...read(), components: [{ type: 'library' }] })).toBe(false)
  })

  test('lists each package named by a built file, and what installs beside', () => {
    const { metadata, components } = read()
    expect(metadata.component).toMatchObject({ name: 'pcp-ts', version: manifest.version })
    const names = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
    const imported = importedPackages()
    expect(imported).toContain('preact')
    expect(imported.filter((name) => !names.includes(name))).toEqual([])
    for (const [name, version] of Object.entries(manifest.optionalDependencies))
      expect(components).toContainEqual(expect.objectContaining({ name, version, scope: 'optional' }))
    for (const { scope, hashes, licenses, properties } of components) {
      expect(licenses).toHaveLength(1)
      expect(hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/)
      expect(properties?.length ?? 0).toBeGreaterThan(scope === 'required' ? 0 : -1)
    }
  })

  test('has a notice with the license of each bundled package', () => {
    const notices = readFileSync(join(top, 'dist/third-party-notices.txt'), 'utf8')
    const notice = readFileSync(join(top, 'NOTICE'), 'utf8')
    const sections = notices.split(/^-{80}\n/m).slice(1)
    const bundled = read().components.filter(({ scope }) => scope === 'required')
    expect(sections).toHaveLength(bundled.length)
    for (const [i, { group, name, version }] of bundled.entries()) {
      const full = group === undefined ? name : `${group}/${name}`
      expect(sections[i]).toMatch(new RegExp(`^${full} ${version.replaceAll('.', '\\.')} \\(`))
      const text = sections[i]!.includes('in the file NOTICE') ? notice : sections[i]!
      expect(text).toMatch(/copyright|in the file LICENSE/i)
      expect(text).toMatch(/permission (?:is hereby granted|to use)|in the file LICENSE/i)
    }
  })
})

interface Bom {
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
  readonly components: readonly {
    readonly group?: string
    readonly name: string
    readonly version: string
    readonly scope: string
    readonly licenses: readonly unknown[]
    readonly hashes?: readonly { content: string }[]
    readonly properties?: readonly unknown[]
  }[]
}

/** Returns a validator of CycloneDX's schema. */
function cycloneDx() {
  const require = createRequire(import.meta.url)
  const library = dirname(require.resolve('@cyclonedx/cyclonedx-library/package.json'))
  const schema = (name: string): object =>
    JSON.parse(readFileSync(join(library, 'res/schema', `${name}.SNAPSHOT.schema.json`), 'utf8')) as object
  const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } })
  addFormats.default(ajv)
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
  return ajv.compile(schema('bom-1.6'))
}

/** Returns the packages that the sources import, except types: what a bundler has to put into the built files. */
function importedPackages(): readonly string[] {
  const found = new Set<string>()
  const files = readdirSync(join(top, 'src'), { recursive: true, encoding: 'utf8' })
  // Templates of new agents import this package.
  for (const file of files.filter((path) => /(?<!\.d)\.tsx?$/.test(path)))
    for (const [, name] of readFileSync(join(top, 'src', file), 'utf8').matchAll(
      /^(?:import|export|\} from)(?! type)[^'\n]* ?from '((?:@[\w-]+\/)?[a-z][\w-]*)(?:\/[\w/-]+)?'/gm,
    ))
      if (name !== 'pcp-ts') found.add(name!)
  return [...found].sort()
}

/** Returns the files of conditional exports. */
function targets(exports: unknown): readonly string[] {
  return typeof exports === 'string' ? [exports] : Object.values(exports as object).flatMap(targets)
}
