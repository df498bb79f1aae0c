/**
 * Finds the npm packages whose code is in the built files: from the modules of which a bundler has kept something, and from sources
 * that contain a package's code, marked `@bundles NAME`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

const MARK = /^\/\*\*.*@bundles ([\w@./-]+)/m
const LEGAL_FILE = /^(?:licen[cs]e|notice|copying|copyrightnotice)(?:\.(?:txt|md))?$/i

/** Returns the files of which rolldown's output has some code. */
export function bundledFiles(output) {
  return output.flatMap(({ modules }) =>
    Object.entries(modules ?? {})
      .filter(([, { renderedLength }]) => renderedLength > 0)
      .map(([file]) => file),
  )
}

/**
 * Returns the packages, by name and version, of lists of bundled files: their manifests, legal texts and the lists they are in.
 *
 * @param lists where files are bundled, as text for people, to the files
 */
export function bundledPackages(top, lists) {
  const found = new Map()
  for (const [place, files] of Object.entries(lists))
    for (const dir of new Set(files.flatMap((file) => packageDirs(top, file)))) {
      const entry = found.get(dir) ?? { dir, places: new Set() }
      entry.places.add(place)
      found.set(dir, entry)
    }
  return [...found.values()]
    .map(({ dir, places }) => ({
      path: dir.slice(top.length + 1).replaceAll(sep, '/'),
      manifest: JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')),
      places: [...places].sort(),
      texts: legalTexts(dir),
    }))
    .sort((a, b) => compare(a.manifest.name, b.manifest.name) || compare(a.path, b.path))
}

/** Compares by code unit, so that the order depends on no locale. */
export function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns the directories of the packages whose code a file contains; none for most of our own. */
function packageDirs(top, file) {
  const path = file.replace(/^\0/, '').replace(/\?.*$/, '')
  const modules = join(top, 'node_modules')
  if (path.startsWith(modules + sep)) return [packageDir(modules, path)]
  if (!path.startsWith(join(top, 'src') + sep)) return []
  const [, name] = MARK.exec(readFileSync(path, 'utf8')) ?? []
  return name === undefined ? [] : [join(modules, name)]
}

/** Returns the nearest directory with a manifest that has a name and a version: some packages have others below. */
function packageDir(modules, file) {
  for (let dir = dirname(file); dir !== modules; dir = dirname(dir)) {
    const manifest = join(dir, 'package.json')
    if (!existsSync(manifest)) continue
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'))
    if (name !== undefined && version !== undefined) return dir
  }
  throw new Error(`${file} is in no package`)
}

function legalTexts(dir) {
  return readdirSync(dir)
    .filter((name) => LEGAL_FILE.test(name))
    .sort(compare)
    .map((name) => readFileSync(join(dir, name), 'utf8').replaceAll('\r\n', '\n').trim())
}
