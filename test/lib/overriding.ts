import type { MetricSource } from '../../src/model/source.ts'

/** A source with some of its methods replaced. */
export function overriding(source: MetricSource, changes: Partial<MetricSource>): MetricSource {
  return new Proxy(source, {
    get: (target, key) => {
      const changed = changes[key as keyof MetricSource]
      if (changed !== undefined) return changed
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
