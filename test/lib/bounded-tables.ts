/** Tables with keys from outside: each gets new keys and must not grow with them. docs/decisions/bounded-tables.md */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { InstanceIds } from '../../src/agents/lib/instance-ids.ts'
import { newNetDev, parseNetDev } from '../../src/agents/linux/net-dev.ts'
import { ExpositionReader, LabelCache } from '../../src/agents/openmetrics/exposition.ts'
import { NameTable } from '../../src/agents/openmetrics/name-table.ts'
import { Source } from '../../src/agents/openmetrics/source.ts'
import { NO_CONFIG } from '../../src/agents/openmetrics/source-config.ts'
import { Scanner } from '../../src/base/scan.ts'
import { encodeText } from '../../src/base/text.ts'
import { PcpError } from '../../src/model/errors.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { LoginAttempts } from '../../src/net/login-attempts.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { InstanceNames } from '../../src/pmapi/instances.ts'
import { RateLimitedLog } from '../../src/pmcd/rate-limited-log.ts'
import { InstanceCache } from '../../src/pmda/cache/instance-cache.ts'
import { MetricErrorLog } from '../../src/pmda/metric-error-log.ts'
import { Rates } from '../../src/pmda/rates.ts'
import { InternPool } from '../../src/pmlogger/pool.ts'
import { AnswerCache, CONTEXT_CACHE_LIMITS } from '../../src/pmproxy/cache.ts'
import { cachedSource } from '../../src/pmproxy/cached-source.ts'

/** A table under test. */
export interface BoundedTable {
  readonly name: string
  /** Number of keys after which it does not grow any more. */
  readonly full: number
  /** Makes a table; the returned function uses it with a new key. */
  readonly make: () => (key: number) => unknown
}

const ASK = { requester: ANONYMOUS }
const INDOM = { domain: 1, serial: 1 }

/** Long-lived tables of daemons with keys from outside. */
export const BOUNDED_TABLES: readonly BoundedTable[] = [
  {
    name: 'InstanceIds, names that never come back',
    full: 2_120_000,
    make: () => {
      const ids = new InstanceIds()
      return (key) => ids.idOf(`name ${key}`)
    },
  },
  {
    name: 'InstanceIds, names that stay among names that go',
    full: 21_000,
    make: () => {
      const ids = new InstanceIds()
      const stay = Array.from({ length: 10 }, (_, i) => `stays ${i}`)
      return (key) => {
        for (const [i, name] of stay.entries()) if (ids.idOf(name) !== i) throw new Error(`${name} has moved`)
        ids.idOf(`name ${key}`)
      }
    },
  },
  {
    name: 'interfaces of /proc/net/dev',
    full: 40_000,
    make: () => {
      const ids = new InstanceIds()
      const dev = newNetDev()
      const row = (name: string): string => `${name}: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n`
      return (key) => {
        parseNetDev(new Scanner(encodeText(`\n\n${row('lo')}${row(`veth${key}`)}`)), dev, ids)
        if (dev.ids[0] !== 0 || ids.nameOf(0) !== 'lo') throw new Error('lo has moved')
      }
    },
  },
  {
    name: 'InstanceNames, instances of a domain',
    full: 1000,
    make: () => {
      let present: number[] = []
      const instances = async () => ({ ids: present, names: present.map((id) => `instance ${id}`) })
      const names = new InstanceNames({ instances } as unknown as Context)
      return async (key) => {
        present = [key, key + 1]
        const known = await names.of(7, makeSet(1, PM_TYPE_U32, [key], [1]))
        if (known.get(key) !== `instance ${key}`) throw new Error(`${key} has no name`)
      }
    },
  },
  {
    name: 'InstanceNames, domains',
    full: 2100,
    make: () => {
      const instances = async () => ({ ids: [1], names: ['one'] })
      const names = new InstanceNames({ instances } as unknown as Context)
      return (key) => names.of(key, makeSet(1, PM_TYPE_U32, [1], [1]))
    },
  },
  {
    name: 'InstanceCache, instances that go',
    full: 12_000,
    make: () => {
      const cache = new InstanceCache({ ...INDOM, maxInactive: 10_000 })
      return (key) => {
        cache.add(`name-${key}`)
        cache.hide(`name-${key}`)
      }
    },
  },
  {
    name: 'InstanceCache, instances that are culled',
    full: 22_000,
    make: () => {
      const cache = new InstanceCache(INDOM)
      return (key) => {
        cache.add(`name-${key}`)
        cache.cull(`name-${key}`)
      }
    },
  },
  {
    name: 'InstanceCache, instances with keys',
    full: 32_000,
    make: () => {
      const cache = new InstanceCache({ ...INDOM, maxInactive: 10_000 })
      return (key) => {
        cache.addKeyed(`name-${key}`, undefined)
        cache.hide(`name-${key}`)
      }
    },
  },
  {
    name: 'Rates',
    full: 1000,
    make: () => {
      const rates = new Rates<string>()
      return (key) => rates.update([[`counter ${key}`, key]], key)
    },
  },
  {
    name: 'Reports of metrics without values',
    full: 2100,
    make: () => {
      const reports = new MetricErrorLog(() => {})
      return (key) => reports.failure(`metric ${key}`, new PcpError('PM_ERR_GENERIC', 'not there'))
    },
  },
  {
    name: 'RateLimitedLog, hosts in the log',
    full: 11_000,
    make: () => {
      const once = new RateLimitedLog()
      return (key) => once.isNew(`host ${key}`)
    },
  },
  {
    name: 'LoginAttempts, addresses',
    full: 11_000,
    make: () => {
      let now = 0
      const attempts = new LoginAttempts({ now: () => (now += 1000) })
      return async (key) => {
        const address = `10.${key >> 16}.${(key >> 8) & 255}.${key & 255}`
        const giveVerdict = await attempts.begin({ address }, 'joe')
        giveVerdict(key % 2 === 0 ? 'right' : 'wrong')
      }
    },
  },
  {
    name: 'Pool of the loggers, names',
    full: 200_000, // twice its limit, at which it is cleared
    make: () => {
      const pool = new InternPool()
      return (key) => pool.text(`metric.${key}`)
    },
  },
  {
    name: 'Pool of the loggers, descriptors',
    full: 200_000, // twice its limit, at which it is cleared
    make: () => {
      const pool = new InternPool()
      return (key) => pool.desc({ pmid: key, type: 1, indom: -1, sem: 1, units: 0 })
    },
  },
  {
    name: 'labels of exposed samples',
    full: 1000,
    make: () => {
      const cache = new LabelCache()
      return (key) => {
        cache.startDocument()
        cache.read(`pod="${key}"`)
      }
    },
  },
  {
    name: 'names of exposed metrics',
    full: 22_000,
    make: () => {
      const table = (max: number): NameTable => new NameTable('/nonexistent/table', max, () => {})
      const source = new Source({
        config: NO_CONFIG,
        items: table(1023),
        instancesOf: () => table(99_999),
        problem: () => {},
      })
      let reader = new ExpositionReader(200)
      return (key) => {
        reader.read(`metric_${key} 1\n`)
        if (key % 200 < 199) return
        source.update(reader)
        reader = new ExpositionReader(200)
      }
    },
  },
  {
    name: 'instances of exposed metrics',
    full: 210_000,
    make: () => {
      const names = new NameTable('/nonexistent/table', 99_999, () => {})
      return (key) => {
        try {
          names.numberOf(`pod="${key}"`)
        } catch {
          // the file shared with PCP's agent keeps every name: the table is full
        }
      }
    },
  },
  {
    name: 'Memory of a web context',
    full: 2000,
    make: () => {
      const memo = new AnswerCache<string, string>(CONTEXT_CACHE_LIMITS, () => 0)
      return (key) => memo.short(`question ${key}`, async () => 'an answer')
    },
  },
  {
    name: 'metadata of a collector that the web side keeps',
    full: 110_000,
    make: () => {
      const source = cachedSource(
        {
          subscribe: () => () => {},
          lookupNames: async (names: readonly string[]) => names.map((_, i) => i + 1),
          children: async () => [],
        } as unknown as MetricSource,
        () => 0,
      )
      return async (key) => {
        await source.lookupNames([`metric.${key}`], ASK)
        await source.children(`metric.${key}`, ASK)
      }
    },
  },
]

/**
 * Fills a table, then uses it with `count` more keys. Returns by how many bytes the heap grew the second time, which must
 * not depend on the number of keys.
 */
export async function growthOf({ make, full }: BoundedTable, count: number): Promise<number> {
  const use = make()
  let key = 0
  const go = async (until: number): Promise<void> => {
    for (; key < until; key++) {
      const done = use(key)
      if (done instanceof Promise) await done
    }
  }
  await go(full)
  const before = heapUsed()
  await go(full + count)
  return heapUsed() - before
}

/** Returns the bytes in use after a garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
}
