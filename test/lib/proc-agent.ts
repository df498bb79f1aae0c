/** The proc agent over a fixture tree of test/fixtures/proc, with requests of a privileged user. */
import { fileURLToPath } from 'node:url'
import { agent } from '../../src/agents/proc/index.ts'
import { isError } from '../../src/model/errors.ts'
import { PM_INDOM_NULL } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask, type Credentials } from '../../src/model/source.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import type { AgentEnv } from '../../src/pmda/define.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'

/** Opens the agent over the fixture tree with this name, or over an absolute path; `env` is its entire environment. */
export function openProc(
  name: string,
  env: Readonly<Record<string, string>> = {},
  rest: Partial<AgentEnv> = {},
): AgentSource {
  const root = name.startsWith('/')
    ? name
    : fileURLToPath(new URL(`../fixtures/proc/${name}`, import.meta.url))
  return openAgent(agent, { root, env, ...rest })
}

/** Returns a request of a user, by default root, with a `moment` of its own. */
export function asUser(
  credentials: Credentials | undefined = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  client = 1,
): Ask {
  const requester = { ...ANONYMOUS, client, ...(credentials === undefined ? {} : { credentials }) }
  return { requester, batch: {} }
}

/** Returns a request of an anonymous client. */
export function asNobody(): Ask {
  return { requester: ANONYMOUS, batch: {} }
}

/** A value, values by instance name, or null; as text like pminfo's, floats to eight digits. */
export type Printed = string | null | { readonly [instance: string]: string }

/** Fetches metrics in one request. */
export async function printed(
  source: AgentSource,
  names: readonly string[],
  ask: Ask = asUser(),
): Promise<Record<string, Printed>> {
  const ids = (await source.lookupNames(names, ask)).map((id, i) => {
    if (isError(id)) throw new Error(`${names[i]}: ${id.message}`)
    return id
  })
  const descs = await source.descs(ids, ask)
  const { sets } = await source.fetch(ids, ask)
  const answers: Record<string, Printed> = {}
  for (const [i, set] of sets.entries()) {
    const desc = descs[i]!
    if (isError(desc)) throw desc
    if (set.status <= 0) answers[names[i]!] = null
    else if (desc.indom === PM_INDOM_NULL) answers[names[i]!] = text(valuesOf(set, desc.type)[0]!.value)
    else {
      const all = await source.instances(desc.indom, undefined, ask)
      answers[names[i]!] = Object.fromEntries(
        valuesOf(set, desc.type).map(({ inst, value }) => [all.names[all.ids.indexOf(inst)], text(value)]),
      )
    }
  }
  return answers
}

function text(value: unknown): string {
  return String(typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(8)) : value)
}
