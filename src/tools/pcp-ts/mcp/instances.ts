/** Instances that a question names. */
import { type Indom, PM_INDOM_NULL } from '../../../model/ids.ts'
import { firstWord } from '../../../model/instance-name.ts'
import type { Instances } from '../../../model/source.ts'
import type { Context } from '../../../pmapi/context.ts'
import { orUndefined } from '../../../pmproxy/describe.ts'
import { similarNames } from '../../lib/similar-names.ts'
import { untrusted } from './answer.ts'

/** Most names that are compared with an unknown one, and names that are shown if none is similar. */
const MOST_COMPARED = 2000
const SHOWN = 3

/** Returns the instances of a domain, of an archive all that it has; undefined if they are not known. */
export async function instancesOf(
  context: Context,
  indom: Indom,
  signal: AbortSignal,
): Promise<Instances | undefined> {
  if (indom === PM_INDOM_NULL) return undefined
  const { archive } = context
  return orUndefined(
    archive === undefined
      ? context.instances(indom, { signal })
      : Promise.resolve().then(() => archive.instances(indom)),
  )
}

/** Checks whether a name means an instance. As in PCP, its first word names it too. */
export function isInstance(instance: string, name: string): boolean {
  return instance === name || firstWord(instance) === name
}

/** Returns which of the wanted names mean no instance, and what they may mean; undefined if all are known. */
export function unknownInstances(
  wanted: readonly string[] | undefined,
  known: readonly string[],
): string | undefined {
  const unknown = wanted?.filter((name) => !known.some((each) => isInstance(each, name))) ?? []
  if (unknown.length === 0) return undefined
  if (known.length === 0) return 'it has no instances'
  const compared = known.slice(0, MOST_COMPARED)
  const names = new Set(compared.flatMap((each) => [each, firstWord(each)]))
  const similar = [...new Set(unknown.flatMap((name) => similarNames(name, names)))].slice(0, SHOWN)
  const others = similar.length > 0 ? similar : known.slice(0, SHOWN)
  const rest = similar.length === 0 && known.length > SHOWN ? ` and ${known.length - SHOWN} more` : ''
  const which = unknown.slice(0, SHOWN).map(untrusted).join(', ')
  return `no such instance: ${which}; ${similar.length > 0 ? 'similar' : 'there are'}: ${others.map(untrusted).join(', ')}${rest}`
}
