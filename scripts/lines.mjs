/**
 * Runs generated command lines here and in the reference: `npm run lines -- [--seed N] [--count N] [--tool NAME]`. Bundles the search first,
 * because it reads option tables from the sources. CONTRIBUTING.md: Made-up command lines
 */
import { alone, buildIfChanged, top } from './lib/run.mjs'
import { bundleSources } from './lib/run-sources.mjs'

alone('lines', () => buildIfChanged())
process.chdir(top)
delete process.env.NODE_EXTRA_CA_CERTS
const bundles = await bundleSources('lines', ['test/interop/lib/lines/main.ts'])
const { main } = await import(new URL('main.js', bundles).href)
process.exit(await main(process.argv.slice(2)))
