/**
 * The documentation site, made by VitePress from docs and from tables and doc comments of the sources. `build` writes site/dist and
 * checks it, `dev` serves it and follows changes of docs, `pages` writes only the pages that VitePress reads. Further
 * arguments are VitePress's, for example `--base /pcp-ts/`. VitePress has a package of its own, site, installed when it is missing.
 */
import { existsSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { install, must, run, top } from './lib/run.mjs'
import { checkSite } from './site/check.mjs'
import { contentsOf } from './site/contents.mjs'
import { generatedPages } from './site/generate.mjs'
import { stage, staged } from './site/stage.mjs'

const [command = 'build', ...args] = process.argv.slice(2)
const site = join(top, 'site')

if (!['build', 'dev', 'pages'].includes(command)) {
  console.error(`docs: no such command: ${command}; there are build, dev, pages`)
  process.exit(1)
}
install()
const generated = await generatedPages()
stage(generated)
contentsOf(staged)
if (command !== 'pages') installSite()
if (command === 'dev') {
  let timer
  watch(join(top, 'docs'), { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => stage(generated), 100)
  })
}
if (command === 'pages') console.log(staged)
else if (command === 'dev') await vitepress()
else {
  must(process.execPath, [vitepressBin(), 'build', site, ...args])
  const base = args.includes('--base') ? args[args.indexOf('--base') + 1] : '/'
  const problems = checkSite(join(site, 'dist'), base)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exit(1)
}

function vitepressBin() {
  return join(site, 'node_modules', 'vitepress', 'bin', 'vitepress.js')
}

/** Serves until it is stopped; the watch above runs beside it. */
async function vitepress() {
  process.argv = [process.execPath, vitepressBin(), 'dev', site, ...args]
  await import(vitepressBin())
}

function installSite() {
  const installed = join(site, 'node_modules', '.package-lock.json')
  if (
    existsSync(installed) &&
    statSync(installed).mtimeMs >= statSync(join(site, 'package-lock.json')).mtimeMs
  )
    return
  console.log('Installing VitePress: some seconds, once')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const status = run(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: site,
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status)
}
