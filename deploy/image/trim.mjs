// Lays out the files of the image: the package without what only developers need, and Node's program without its symbols.
//     node trim.mjs APP ROOT NODE
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const [app, root, node] = process.argv.slice(2)
if (node === undefined) throw new Error('usage: node trim.mjs APP ROOT NODE')

const modules = join(root, 'opt', 'pcp-ts', 'node_modules')
mkdirSync(modules, { recursive: true })
cpSync(join(app, 'node_modules'), modules, { recursive: true, verbatimSymlinks: true })
// The library, its types and its documentation are for programs that are built elsewhere.
const library = ['docs', 'dist/esm', 'dist/cjs', 'dist/types', 'dist/types-cjs', 'CHANGELOG.md']
for (const path of [...library.map((name) => join('pcp-ts', name)), '.bin', '.package-lock.json'])
  rmSync(join(modules, path), { recursive: true, force: true })
trimKoffi(join(modules, 'koffi'))

const bin = join(root, 'opt', 'pcp-ts', 'bin')
mkdirSync(bin, { recursive: true })
symlinkSync('../node_modules/pcp-ts/bin/pcp-ts', join(bin, 'pcp-ts'))

const program = join(root, 'usr', 'local', 'bin', 'node')
mkdirSync(join(root, 'usr', 'local', 'bin'), { recursive: true })
cpSync(realpathSync(node), program)
chmodSync(program, 0o755)
execFileSync('strip', [program])

/** Keeps what the program loads. */
function trimKoffi(folder) {
  for (const name of ['doc', 'src', 'vendor', 'CHANGELOG.md', 'README.md'])
    rmSync(join(folder, name), { recursive: true, force: true })
}
