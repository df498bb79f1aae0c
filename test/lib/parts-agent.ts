/** An agent whose values count its fetches and whose instances change with them, so that each record can be checked. */
import { type AgentDefinition, defineAgent } from '../../src/pmda/define-agent.ts'

/** Fetches per instance. */
const FETCHES_OF_PART = 4

/** Returns the instance of a value. */
export function partOf(value: number): string {
  return `part-${Math.floor(value / FETCHES_OF_PART)}`
}

/** Makes an agent with `parts.count`, the number of fetches, and `parts.part`, the same by instance. */
export function partsAgent(): AgentDefinition {
  return defineAgent({
    name: 'parts',
    domain: 251,
    open: () => {
      let fetches = 0
      const part = (): number => Math.floor(fetches / FETCHES_OF_PART)
      const indom = {
        serial: 1,
        instances: () => ({ ids: [part(), 1000], names: [partOf(fetches), 'always'] }),
        help: 'Parts',
        instanceLabels: (inst: number) => ({ part: inst }),
      }
      const count = { type: 'u32', sem: 'counter', units: 'count', help: 'Fetches so far' } as const
      return {
        beforeFetch: () => {
          fetches++
        },
        metrics: {
          'parts.count': { ...count, item: 0, value: () => fetches },
          'parts.part': {
            ...count,
            item: 1,
            indom,
            value: (inst) => (inst === 1000 ? 1 : fetches),
          },
        },
      }
    },
  })
}
