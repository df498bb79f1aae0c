/** Writes src/base/decode/xz-wasm.ts: the WebAssembly of the package xz-decompress, which does not export it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { top } from './lib/run.mjs'

const source = readFileSync(createRequire(import.meta.url).resolve('xz-decompress'), 'utf8')
const [, base64] = /"data:application\/wasm;base64,([A-Za-z0-9+/=]+)"/.exec(source)
writeFileSync(
  join(top, 'src', 'base', 'decode', 'xz-wasm.ts'),
  `/** Data: the WebAssembly of the package xz-decompress, by scripts/gen-xz-wasm.mjs. @bundles xz-decompress */

/** The module, in base64. Contains xz-embedded (public domain) and walloc (MIT, Igalia). */
export const XZ_WASM: string =
  '${base64}'
`,
)
