/** create and cond-create: makes control files of new instances from policies. pmlogctl(1) */
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { parseHostSpec } from '../../../net/host-spec.ts'
import { connect } from '../../../pmapi/connect.ts'
import type { Context } from '../../../pmapi/context.ts'
import { parseControl } from '../admin/control-lines.ts'
import { writeComposite } from './composite.ts'
import { shouldCreate } from './conditions.ts'
import { type FarmInstance, instancesIn, readFarm } from './farm-files.ts'
import { startDaemon } from './launch.ts'
import { controlText, expandMacros, identOf, type Policy } from './policy.ts'
import { classOf, isFile, LAST_RESORT, policiesToTry, policyToCreate } from './policy-files.ts'
import { type FarmRun, installControl } from './run.ts'

/** Creates an instance for every host. Resolves to the exit status. Rejects with PcpError for an invalid policy. */
export async function createAll(hosts: readonly string[], run: FarmRun): Promise<number> {
  if (hosts.length === 0) {
    run.error('"create" command requres hostname(s) and/or a --class')
    return 1
  }
  const policy = policyToCreate(run)
  let status = 0
  for (const host of hosts) if (!(await create(host, planOf(policy, host, run), run))) status = 1
  if (status !== 0) run.error('could not complete create operation')
  return status
}

/** Creates an instance for every host and every policy whose conditions are true. */
export async function createWhereWanted(hosts: readonly string[], run: FarmRun): Promise<number> {
  if (hosts.length === 0) {
    run.error('"cond-create" command requres hostname(s)')
    return 1
  }
  const { policies, lastResort } = policiesToTry(run)
  let status = 0
  for (const host of hosts) {
    const wanting = await wantingPolicies(host, policies, lastResort, run)
    try {
      if (wanting.length === 0) run.warn(`no instance created for host ${host}`)
      else if (!(await createFor(host, wanting, run))) status = 1
    } catch (error) {
      // Continue with the other hosts.
      run.error(PcpError.from(error).message)
      run.warn(`no instance created for host ${host}`)
      status = 1
    }
  }
  if (status !== 0) run.error('could not complete cond-create operation')
  return status
}

async function wantingPolicies(
  host: string,
  policies: readonly Policy[],
  lastResort: Policy | undefined,
  run: FarmRun,
): Promise<Policy[]> {
  let opening: Promise<Context> | undefined
  const context = (): Promise<Context> => {
    opening ??= open(host, run)
    return opening
  }
  const options = {
    host,
    context,
    expressionFile: () => run.scratch.path('derived'),
    warn: run.warn,
    tell: run.verbose,
    report: run.errorLines,
  }
  try {
    const wanting: Policy[] = []
    for (const policy of policies) if (await shouldCreate(policy, options)) wanting.push(policy)
    if (wanting.length > 0 || lastResort === undefined) {
      if (lastResort !== undefined)
        run.verbose(2, `host: ${host} condition true for some class, skip ${LAST_RESORT} class`)
      return wanting
    }
    return (await shouldCreate(lastResort, options)) ? [lastResort] : []
  } finally {
    await opening?.then((opened) => opened.close()).catch(() => {})
  }
}

async function open(host: string, { io, variables }: FarmRun): Promise<Context> {
  const spec = parseHostSpec(host === 'LOCALHOSTNAME' ? 'local:' : host, variables)
  return (io.connect ?? connect)(spec, { env: variables, signal: io.signal })
}

async function createFor(host: string, wanting: readonly Policy[], run: FarmRun): Promise<boolean> {
  const [policy] = wanting
  if (wanting.length === 1) return create(host, planOf(policy!, host, run), run)
  const { kind, ident = `${LAST_RESORT}-${host}` } = run
  const line = kind.compositeLine
  const plan = { ident, className: LAST_RESORT, template: ['$version=1.1', `$class=${LAST_RESORT}`, line] }
  const prepare = async (instance: FarmInstance): Promise<void> => {
    await writeComposite(wanting, instance, ident, run)
  }
  return create(host, { ...plan, prepare }, run)
}

/** The parts of a new instance. */
interface Plan {
  readonly ident: string
  readonly className: string
  readonly template: readonly string[]
  /** Runs before the daemon starts. */
  readonly prepare?: (instance: FarmInstance) => Promise<void>
}

function planOf(policy: Policy, host: string, run: FarmRun): Plan {
  const ident = run.ident ?? identOf(policy, host, run.variables)
  return { ident, className: classOf(policy, run), template: policy.control }
}

/** Installs the control file and starts the daemon; resolves to false if that fails to start. Rejects with EEXIST or EINVAL before any change. */
async function create(host: string, plan: Plan, run: FarmRun): Promise<boolean> {
  const { kind, variables, verbose } = run
  const { ident, className, template, prepare } = plan
  if (ident.includes('/'))
    throw new PcpError('EINVAL', `identifier ${ident} cannot be a file name: choose another with -i`)
  const path = join(`${variables[kind.controlVariable]!}.d`, ident)
  if (isFile(path)) throw new PcpError('EEXIST', `control file ${path} already exists`)
  const creator = `# created by ${kind.command} on ${dateText(run.io.now())}`
  const { text, addedVersion } = controlText(template, { creator, className }, (line) =>
    expandMacros(line, { h: host, i: ident }, variables),
  )
  if (addedVersion) verbose(1, 'Adding $version=1.1 to control file')
  const instance = instanceOf(path, text, run)
  refuseTwin(instance, run)
  await prepare?.(instance)
  verbose(1, `--- start control file ---\n${text}--- end control file ---`)
  verbose(1, `Installing control file: ${path}`)
  installControl(run, path, text)
  return startDaemon(run, instance)
}

/** Returns the instance of a new control file. Throws EINVAL for missing fields and for the primary instance. */
function instanceOf(path: string, text: string, run: FarmRun): FarmInstance {
  const { kind, say } = run
  const line = parseControl(text).find((each) => each.kind === 'instance')
  if (line?.kind === 'instance' && line.primary === 'y')
    throw new PcpError('EINVAL', `primary ${kind.service} cannot be created from ${kind.command}`)
  const [instance] = instancesIn(path, text, { ...run, warn: () => {} })
  if (instance !== undefined) return instance
  const field = line?.kind !== 'instance' || line.primary === '' ? 'primary' : 'directory'
  say(`control file ...\n${text.trimEnd()}`)
  const isShort = line?.kind !== 'instance' || line.logPath === ''
  throw new PcpError(
    'EINVAL',
    isShort
      ? `cannot find ${field} field from control file`
      : `no arguments for ${kind.service} in control file`,
  )
}

/** Throws if another daemon writes to the same place. */
function refuseTwin({ host, path, rawPath }: FarmInstance, run: FarmRun): void {
  const twins = readFarm({ ...run, warn: () => {} }).filter((each) => each.path === path)
  const isSame = twins.filter((each) => each.host === host)
  const found = (isSame.length > 0 ? isSame : twins).map(({ file }) => file)
  if (found.length > 0)
    throw new PcpError(
      'EEXIST',
      `host ${host} and directory ${rawPath} already defined in ${found.join('\n')}`,
    )
}

/** Formats the time as date(1) does. */
function dateText(nowMs: number): string {
  const date = new Date(nowMs)
  const [weekday, month, , year, time] = date.toString().split(' ')
  const zone = /\(([^)]*)\)/.exec(date.toString())?.[1] ?? ''
  const short = date.getTimezoneOffset() === 0 ? 'UTC' : zone
  return `${weekday} ${month} ${`${date.getDate()}`.padStart(2)} ${time} ${short} ${year}`
}
