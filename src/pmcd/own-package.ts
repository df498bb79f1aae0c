/** Lets an agent's module import this package from a folder where it is not installed. docs/how-to/add-an-agent.md */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ownPath } from './program-beside.ts'

const NAME = 'pcp-ts'
/** Any entry point; only whether it is found matters. */
const ENTRY = `${NAME}/pmda`

/** Resolves imports of the package from the module that has them, and if that fails from the package itself. */
const HOOKS = `let own
export const initialize = (url) => { own = url }
export const resolve = async (specifier, context, next) => {
  if (specifier !== '${NAME}' && !specifier.startsWith('${NAME}/')) return next(specifier, context)
  try {
    return await next(specifier, context)
  } catch {
    return next(specifier, { ...context, parentURL: own })
  }
}`

let isRegistered = false

/** Makes this installation available to imports of `pcp-ts/...` in `module`, unless it finds one by itself. */
export function provideOwnPackage(module: string): void {
  if (isRegistered || findsPackage(module)) return
  const manifest = ownManifest()
  if (manifest === undefined) return
  isRegistered = true
  const { register } = process.getBuiltinModule('node:module')
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: pathToFileURL(manifest).href })
}

function findsPackage(module: string): boolean {
  try {
    process.getBuiltinModule('node:module').createRequire(module).resolve(ENTRY)
    return true
  } catch {
    return false
  }
}

/** Returns the path of this package's package.json; undefined if the program was moved out of it. */
export function ownManifest(): string | undefined {
  for (let dir = dirname(ownPath()); ; dir = dirname(dir)) {
    const manifest = join(dir, 'package.json')
    if (existsSync(manifest) && isOwn(manifest)) return manifest
    if (dir === dirname(dir)) return undefined
  }
}

function isOwn(manifest: string): boolean {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: unknown }).name === NAME
  } catch {
    return false
  }
}
