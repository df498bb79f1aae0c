/** Connections to key servers for loading. docs/reference/pmproxy.md */
import type { OpenLoader } from '../../series/discover/discovery.ts'
import { KeyClient } from '../../series/keys/client.ts'
import { KeyLoader } from '../../series/keys/loader.ts'
import { VERSION_KEY } from '../../series/keys/schema.ts'
import type { KeySettings } from '../../series/keys/settings.ts'

/** Connects to the first key server that answers. Errors as `KeyClient.open` and `KeyLoader.open`. */
export async function connectLoader({ servers, link, loader: options }: KeySettings): Promise<OpenLoader> {
  const client = await KeyClient.open(servers, link)
  try {
    const loader = await KeyLoader.open(client, options)
    return {
      loader,
      name: client.name,
      keepsData: async () => (await client.call('GET', VERSION_KEY)) !== null,
      close: () => client.close(),
    }
  } catch (error) {
    client.close()
    throw error
  }
}
