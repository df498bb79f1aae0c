/** A well-behaved client. */
import { ANONYMOUS } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'

/** Connects and fetches; returns the duration in milliseconds and the metrics' statuses. */
export async function fetchHonestly(
  port: number,
  names: readonly string[],
): Promise<{ ms: number; statuses: readonly number[] }> {
  const start = performance.now()
  const source = await HostSource.connect(`127.0.0.1:${port}`)
  try {
    const ask = { requester: ANONYMOUS }
    const ids = (await source.lookupNames(names, ask)).filter((id) => typeof id === 'number')
    const { sets } = await source.fetch(ids, ask)
    return { ms: performance.now() - start, statuses: sets.map(({ status }) => status) }
  } finally {
    await source.close()
  }
}
