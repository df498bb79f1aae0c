/** Values of an agent as plain objects. */
import { errStr, isError } from '../../src/model/errors.ts'
import { PM_INDOM_NULL } from '../../src/model/ids.ts'
import type { Ask } from '../../src/model/source.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import type { Value } from '../../src/model/values.ts'
import type { AgentSource } from '../../src/pmda/open-agent.ts'
import { ASK } from './agent-catalogue.ts'

/** A value, values by `number name` of the instance, an error, or null for no value. */
export type Answer = Value | { readonly [instance: string]: Value } | { readonly error: string } | null

/** Fetches metrics in one request; returns their values by name. */
export async function allAnswers(
  source: AgentSource,
  names: readonly string[],
  ask: Ask = ASK,
): Promise<Record<string, Answer>> {
  const ids = (await source.lookupNames(names, ask)).map((id, i) => {
    if (isError(id)) throw new Error(`${names[i]}: ${id.message}`)
    return id
  })
  const descs = await source.descs(ids, ask)
  const moment = {}
  const { sets } = await source.fetch(ids, { ...ask, batch: moment })
  const answers: Record<string, Answer> = {}
  for (const [i, set] of sets.entries()) {
    const desc = descs[i]!
    if (isError(desc)) throw desc
    const name = names[i]!
    if (set.status < 0) answers[name] = { error: errStr(set.status) }
    else if (set.status === 0) answers[name] = null
    else if (desc.indom === PM_INDOM_NULL) answers[name] = valuesOf(set, desc.type)[0]!.value
    else {
      const all = await source.instances(desc.indom, undefined, { ...ask, batch: moment })
      const byName: { [instance: string]: Value } = {}
      for (const { inst, value } of valuesOf(set, desc.type))
        byName[`${inst} ${all.names[all.ids.indexOf(inst)]}`] = value
      answers[name] = byName
    }
  }
  return answers
}

/** Fetches one metric. */
export async function answer(source: AgentSource, name: string, ask: Ask = ASK): Promise<Answer> {
  return (await allAnswers(source, [name], ask))[name]!
}
