/** A directory for one kill test: bundled commands, archives, and their configuration. */
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { build, stop } from 'esbuild'

/** Commands by name, with their sources below src/tools. */
const TOOLS: Readonly<Record<string, string>> = {
  pmcd: 'pmcd.ts',
  pmdumplog: 'pmlogdump/index.ts',
  pmlogcompress: 'pmlogcompress.ts',
  pmlogcp: 'pmlogmv.ts',
  pmlogextract: 'pmlogextract/index.ts',
  pmlogger: 'pmlogger.ts',
  pmlogger_check: 'pmlogger_check/index.ts',
  pmlogger_daily: 'pmlogger_daily/index.ts',
  pmlogger_merge: 'pmlogger_merge.ts',
  pmlogger_rewrite: 'pmlogger_rewrite.ts',
  pmloglabel: 'pmloglabel.ts',
  pmlogmv: 'pmlogmv.ts',
  pmlogreduce: 'pmlogreduce/index.ts',
  pmlogrewrite: 'pmlogrewrite/index.ts',
  pmproxy: 'pmproxy.ts',
}
/** Program that tidies old archives like `npm start`. */
export const RETENTION = 'retention'
/** Variables that would point commands to files of this machine, or slow down every start. */
const FOREIGN = /^(?:PCP|PMCD|PMLOGGER|NODE_EXTRA)_/

/** Bundles all commands into one file, with a link for each name. */
export async function bundlePrograms(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'kills-programs-'))
  const names = Object.keys(TOOLS)
  const bundle = join(dir, 'bundle')
  await build({
    stdin: {
      contents: `import { basename } from 'node:path'
                 import { tidyArchives } from './src/start/retention.ts'
                 import { main } from './src/tools/main.ts'
                 ${names.map((name) => `import { tool as ${name} } from './src/tools/${TOOLS[name]}'`).join('\n')}
                 async function ${RETENTION}() {
                   const [dir, compressAfterMs, keepMs] = process.argv.slice(2)
                   const policy = { compressAfterMs: +compressAfterMs, keepMs: +keepMs, keepBytes: 1e12 }
                   const signal = new AbortController().signal
                   console.log(await tidyArchives(dir, policy, { nowMs: Date.now(), inUse: () => undefined, signal }))
                 }
                 const tools = { ${names.join(', ')} }
                 const name = basename(process.argv[1])
                 void (name === '${RETENTION}' ? ${RETENTION}() : main(tools[name]))`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    outfile: bundle,
    banner: { js: `#!${process.execPath}` },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    external: ['koffi'],
    define: { 'import.meta.url': '__filename' },
  })
  await stop() // otherwise esbuild's service outlives the test
  chmodSync(bundle, 0o755)
  for (const name of [...names, RETENTION]) linkSync(bundle, join(dir, name))
  return dir
}

/** A directory of archives with the configuration that commands need. */
export interface Place {
  readonly programs: string
  readonly top: string
  /** Archives of this host. */
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
}

/** Creates an empty place. */
export function makePlace(programs: string): Place {
  const top = mkdtempSync(join(tmpdir(), 'kills-'))
  const dir = join(top, 'archives', hostname())
  for (const name of ['run', 'tmp', 'log/pmlogger', 'control.d', `archives/${hostname()}`])
    mkdirSync(join(top, name), { recursive: true })
  writeFileSync(
    join(top, 'pcp.conf'),
    `PCP_RUN_DIR=${top}/run\nPCP_TMP_DIR=${top}/tmp\nPCP_SYSCONF_DIR=${top}\nPCP_VAR_DIR=${top}\n` +
      `PCP_LOG_DIR=${top}/log\nPCP_ARCHIVE_DIR=${top}/archives\nPCP_PMLOGGERCONTROL_PATH=${top}/control\n` +
      `PCP_PMDAS_DIR=${top}\nPCP_PMCDCONF_PATH=${top}/pmcd.conf\n` +
      `PCP_BINADM_DIR=${programs}\nPCP_BIN_DIR=${programs}\nPCP_USER=${userInfo().username}\n`,
  )
  writeFileSync(join(top, 'control'), '$version=1.1\n')
  writeFileSync(
    join(top, 'control.d', 'local'),
    '$version=1.1\nLOCALHOSTNAME y n PCP_ARCHIVE_DIR/LOCALHOSTNAME -c config.default\n',
  )
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !FOREIGN.test(key)))
  return { programs, top, dir, env: { ...env, TZ: 'UTC', PCP_CONF: join(top, 'pcp.conf') } }
}

export function removePlace({ top }: Place): void {
  rmSync(top, { recursive: true, force: true })
}
