/** A client that asks what anybody may ask. */
import { ANONYMOUS } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'

/** Connects, fetches, and returns how many milliseconds that took, and the statuses of the metrics. */
export async function askHonestly(
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
