/**
 * Main program of the single executable. It is `pcp-ts`, the command whose name it is called by, or, for child processes and unpacked
 * programs, Node with a script: an absolute path as the first argument.
 */
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { PcpError } from '../../model/errors.ts'
import { type Packed, unpack } from './unpack.ts'

const DEFAULT = 'pcp-ts'

function main(): void {
  const index = JSON.parse(getAsset('index', 'utf8')) as Pick<Packed, 'hash' | 'files'>
  const dir = unpack(
    {
      ...index,
      contents: () => brotliDecompressSync(new Uint8Array(getRawAsset('contents') as ArrayBuffer)),
    },
    {
      env: process.env,
      uid: process.geteuid?.() ?? 0,
      pid: process.pid,
      execPath: process.execPath,
      now: Date.now,
    },
  )
  const [executable, calledAs = DEFAULT, ...args] = process.argv
  const [script] = args
  if (script !== undefined && isScript(script, dir)) {
    process.argv = [executable!, resolve(script), ...args.slice(1)]
    run(script, dir)
    return
  }
  const name = basename(calledAs)
  const isCommand = index.files.some(([path, mode]) => path === `bin/${name}` && (mode & 0o100) !== 0)
  const program = join(dir, 'bin', isCommand ? name : DEFAULT)
  process.argv = [executable!, program, ...args]
  run(program, dir)
}

/** Returns whether an argument is a script: an absolute path, or a path that leads to an unpacked program. */
function isScript(path: string, dir: string): boolean {
  if (!path.includes('/') || !existsSync(path)) return false
  return isAbsolute(path) || isUnpacked(path, dir)
}

function isUnpacked(path: string, dir: string): boolean {
  return realpathSync(path).startsWith(`${realpathSync(dir)}/bin/`)
}

/** Loads a script, as Node does: a CommonJS one by require, any other by import, which only works in files. */
function run(script: string, dir: string): void {
  const require = createRequire(join(dir, 'package.json'))
  const path = realpathSync(script)
  if (path.endsWith('.cjs') || isUnpacked(path, dir)) require(path)
  else (require('./import.cjs') as (url: string) => void)(pathToFileURL(path).href)
}

try {
  main()
} catch (error) {
  if (!(error instanceof PcpError)) throw error
  process.stderr.write(`${DEFAULT}: ${error.message}\n`)
  process.exitCode = 1
}
